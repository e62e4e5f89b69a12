package org.jdapl.dat;

/** A public service point: listens for connection requests. */
public interface PublicServicePoint extends DatObject {

  /**
   * Where it listens.
   *
   * @return the connection qualifier.
   */
  long connQual();

  /**
   * Ends the listening (dat_psp_free). Requests that arrived stay valid. Further ones are refused.
   * Inside an upcall it does not wait.
   */
  @Override
  void close();
}
