/* What image.c needs of the machine it runs on. */
#ifndef PORTABILITY_PORT_H
#define PORTABILITY_PORT_H

void port_begin(void);
void port_put(char character);
int port_end(int status);

#endif
