#ifndef MAPM_BUILT_H
#define MAPM_BUILT_H

/* built: provenance of this build, set by make BUILT='-DMAPM_CHANNEL=…'. The
 * objects that include this header depend on that value, so a new commit
 * recompiles only them. */

/* Kind of distribution: "source", "static" or "deb". */
#ifndef MAPM_CHANNEL
#    define MAPM_CHANNEL "source"
#endif

/* Commit in hexadecimal; empty if unknown. */
#ifndef MAPM_COMMIT
#    define MAPM_COMMIT ""
#endif

/* Statically linked libraries as "NAME VERSION NAME VERSION", whose security
 * updates require a new build. Empty if the system's libraries are used. */
#ifndef MAPM_LIBRARIES
#    define MAPM_LIBRARIES ""
#endif

#endif
