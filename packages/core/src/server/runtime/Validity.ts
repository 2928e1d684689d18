/**
 * The place for what `Authenticator.validFor` says of the user of an HTTP request. `Authentication` provides a place to each search for
 * a user, and reads the place when the user was found.
 */
import * as Context from "effect/Context"

/** In milliseconds; there is no place outside of HTTP. */
export class Validity extends Context.Reference<Validity>()("@effect-mcp/core/server/Authenticator/Validity", {
  defaultValue: (): { life: number; recheckAfter: number } | undefined => undefined
}) {}
