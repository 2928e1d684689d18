/**
 * The sender of a message, as the server's authentication identified it. Handlers read it as `RequestContext.principal`;
 * how a transport identifies a sender is an option of that transport (`HttpOptions.authenticate`).
 *
 * @since 0.1.0
 */

export interface Principal {
  /**
   * Identifies the principal: two messages with the same id have the same sender. A session belongs to one principal.
   */
  readonly id: string
  /** Further facts about the principal, for example the scopes of a token. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}
