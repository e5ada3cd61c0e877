#ifndef MAPM_CLI_H
#define MAPM_CLI_H

/* cli_main: the program `mapm`; returns its exit code. */
int cli_main(int argc, char **argv);

#endif
