/*
 * facts: what explains a figure later, read from /sys and /proc.
 */
#ifndef MEMBW_FACTS_H
#define MEMBW_FACTS_H

/* Writes "facts" of the record. */
void facts_write(void);

#endif
