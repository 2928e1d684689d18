/**
 * The service into which `Authenticator.validFor` writes for how long the user of an HTTP request is valid. `Authentication` provides this
 * service to each search for a user, and reads it when the user was found.
 */
import * as Context from "effect/Context"

/** The validity of a user. Both members are in milliseconds. The service is `undefined` outside of HTTP. */
export class Validity extends Context.Reference<Validity>()("@effect-mcp/core/server/Authenticator/Validity", {
  defaultValue: (): { life: number; recheckAfter: number } | undefined => undefined
}) {}
