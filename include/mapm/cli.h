#ifndef MAPM_CLI_H
#define MAPM_CLI_H

/* cli_main: the program `mapm`, from its command line to its exit code. */
int cli_main(int argc, char **argv);

#endif
