/**
 * The capabilities that a client declares: those of its features, in the form of the newest revision. `legacy/Connect` and `modern/Connect`
 * reduce these capabilities to the revision of their session. `legacy/InboundHandlers` uses these capabilities to decide which requests a
 * server may send.
 */
import type { ClientCapabilities } from "../../protocol/Capabilities.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { FeaturesService } from "../ClientFeatures.js"

/** Returns the capabilities of a client with these features and these extensions (settings by the identifier of the extension). */
export const of = (
  { declared, form, roots, sampling, tasks, url }: FeaturesService,
  extensions: { readonly [id: string]: JsonObject } = {}
): ClientCapabilities => ({
  ...(declared.experimental.size === 0 ? undefined : { experimental: Object.fromEntries(declared.experimental) }),
  ...(sampling === undefined ? undefined : { sampling: sampling.settings }),
  ...(form === undefined && url === undefined ? undefined : {
    elicitation: {
      ...(form === undefined ? undefined : { form: form.settings }),
      ...(url === undefined ? undefined : { url: url.settings })
    }
  }),
  ...(roots === undefined ? undefined : { roots: roots.changes === undefined ? {} : { listChanged: true } }),
  ...(tasks === undefined || (sampling ?? form ?? url) === undefined ? undefined : {
    tasks: {
      list: {},
      cancel: {},
      requests: {
        ...(sampling === undefined ? undefined : { sampling: { createMessage: {} } }),
        ...((form ?? url) === undefined ? undefined : { elicitation: { create: {} } })
      }
    }
  }),
  ...(declared.extensions.size === 0 && Object.keys(extensions).length === 0
    ? undefined
    : { extensions: { ...Object.fromEntries(declared.extensions), ...extensions } })
})
