/**
 * Makes a name for the handler of a request, for example `tool "search"`. `HandlerOutcome`, `Serve`, and the modules in `features`,
 * `legacy` and `modern` use these names in error messages and in the log. A name in a request comes from the client, so this module
 * shortens the name and writes it as a JSON string.
 */
import type { Request } from "../../jsonrpc/Message.js"
import type { JsonObject } from "../../protocol/Json.js"

export const tool = (name: string): string => `tool ${quoted(name)}`

export const prompt = (name: string): string => `prompt ${quoted(name)}`

export const resource = (uri: string): string => `resource ${quoted(uri)}`

export const template = (uriTemplate: string): string => `resource template ${quoted(uriTemplate)}`

export const method = (name: string): string => quoted(name)

/** Makes the name of the handler that completes an argument. `of` is the name of the prompt or resource template with the argument. */
export const completer = (argument: string, of: string): string => `the completion of ${quoted(argument)} of ${of}`

/** Makes the name of the handler of a request: the tool, prompt, resource or completion in the parameters, or otherwise the method. */
export const of = (
  { method: name, params }: { readonly method: string; readonly params?: Request["params"] | undefined }
): string => {
  switch (name) {
    case "tools/call":
      return tool(textOf(params?.name))
    case "prompts/get":
      return prompt(textOf(params?.name))
    case "resources/read":
      return resource(textOf(params?.uri))
    case "completion/complete": {
      const [argument, ref] = [objectOf(params?.argument), objectOf(params?.ref)]
      return completer(
        textOf(argument.name),
        ref.type === "ref/prompt" ? prompt(textOf(ref.name)) : template(textOf(ref.uri))
      )
    }
    default:
      return method(name)
  }
}

const MAX_NAME = 128

/** Shortens a name from a client for a message, to at most 128 characters. */
export const quotable = (name: string): string => name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name

const quoted = (name: string): string => JSON.stringify(quotable(name))

const textOf = (value: unknown): string => typeof value === "string" ? value : ""

const objectOf = (value: unknown): JsonObject => typeof value === "object" && value !== null ? value as JsonObject : {}
