/**
 * The identity of the sender of a message, as the `Authenticator` of the server gave it. Handlers read it as
 * `RequestContext.principal`; what else is known of the sender is the user, a service of the application's own type.
 *
 * @since 0.1.0
 */

export interface Principal {
  /**
   * Identifies the principal: two messages with the same id have the same sender. A session belongs to one principal.
   */
  readonly id: string
}
