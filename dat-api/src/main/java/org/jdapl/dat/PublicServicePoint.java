package org.jdapl.dat;

/** A public service point: listens for any number of connection requests, for any endpoint. */
public interface PublicServicePoint extends ServicePoint {}
