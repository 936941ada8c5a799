/*
 * driver: what a card's driver does to the process that calls it.
 */
#pragma once

/* Opens the card in a process of its own: a driver that ends its process, as by abort(), is named,
 * and ends not this one. */
void driver_try(int index, int cpus);
