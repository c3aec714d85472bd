/* The command line of mklittlefs and mkspiffs, so that build scripts can swap the tool in. */
#ifndef ALIAS_H
#define ALIAS_H

/* 1 when the program is called as mkfastffs, or with one of -c, -u, -l in place of a command. */
int alias_applies(int argc, char **argv);
/* Translates and runs; returns the exit code. */
int alias_run(int argc, char **argv);

#endif
