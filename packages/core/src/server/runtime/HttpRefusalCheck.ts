/**
 * Checks the status and the headers of an application's `HttpRefusal` before the server sends them, for `HandlerOutcome` and
 * `dispatch/Stages`. A status or a header that HTTP does not allow would break the response, or add lines to the response.
 */
import type { HttpRefusal } from "../HttpRefusal.js"

/**
 * Says what is wrong with a refusal; `undefined` when the server can send the refusal. The error does not contain the wrong value, which
 * may be a secret.
 */
export const problemOf = ({ headers = {}, status }: HttpRefusal): Error | undefined => {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    return new Error("An HttpRefusal has a status that is not a whole number from 400 to 599; the client got 500")
  }
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !(NAME.test(name) && VALUE.test(value))) {
      return new Error(
        "An HttpRefusal has a header that HTTP does not allow; the client got 500. A name is a token, and a value has no " +
          "line break and no character beyond Latin-1"
      )
    }
  }
  return undefined
}

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i

const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
