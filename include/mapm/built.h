#ifndef MAPM_BUILT_H
#define MAPM_BUILT_H

/*
 * built: who built this program, and from what; make BUILT='-DMAPM_CHANNEL=…' says
 * it. Its files depend on that text: nothing else is compiled again for a commit.
 */

/* Where it comes from: "source", "static", "deb". */
#ifndef MAPM_CHANNEL
#    define MAPM_CHANNEL "source"
#endif

/* In hexadecimal; empty: unknown. */
#ifndef MAPM_COMMIT
#    define MAPM_COMMIT ""
#endif

/* "NAME VERSION NAME VERSION": libraries that are part of the programs, and whose
 * security updates need a new build. Empty: they are the system's. */
#ifndef MAPM_LIBRARIES
#    define MAPM_LIBRARIES ""
#endif

#endif
