package org.jdapl.dat;

/**
 * Listens for connection requests, and puts them into an EVD. One that finds the EVD full is
 * refused.
 */
public interface ServicePoint extends DatObject {

  /**
   * Where it listens (dat_psp_query, dat_rsp_query, dat_csp_query). Legal in every state.
   *
   * @return the connection qualifier, also if the provider picked it.
   */
  long connQual();

  /**
   * Where its requests go (dat_psp_query, dat_rsp_query, dat_csp_query). Legal in every state.
   *
   * @return the EVD.
   */
  Evd evd();

  /**
   * Ends the listening (dat_psp_free, dat_rsp_free, dat_csp_free). Requests that arrived stay
   * valid. Further ones are refused. Inside an upcall it does not wait.
   */
  @Override
  void close();
}
