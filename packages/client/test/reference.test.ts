import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import * as Client from "./reference/Client.js"
import * as OtherPackages from "./reference/OtherPackages.js"

/**
 * What the session, client, client session, session group and stdio of the reference SDK do, item by item under the SDK's
 * names, and the test that covers it here: by the file below `packages`, the item and the title of the test.
 */
const covered = { ...Client.covered, ...OtherPackages.covered }

/** Items of the reference SDK without an equivalent, and why. */
const omitted: Readonly<Record<string, string>> = {
  "BaseSession._receive_request_adapter": "there are no subclasses",
  "BaseSession._receive_notification_adapter": "there are no subclasses",
  "BaseSession.send_notification, related_request_id": "a client's notifications belong to no request",
  "Client.__post_init__": "a client is made from a connector, which says how the server is reached",
  "Client.session": "the client and its session are the same value",
  "ClientSession.__init__, streams xor dispatcher": "there is one way to make it, from a transport",
  "ClientSession.send_notification, before entering": "a session exists only after its handshake",
  "ServerSession._handle_incoming": "the dispatcher calls handlers; nothing reads a stream of messages",
  "ServerSession.incoming_messages": "the dispatcher calls handlers; nothing reads a stream of messages",
  "ServerSession.elicit": "a deprecated name of `elicit_form`",
  "ServerSession._received_notification": "there are no subclasses",
  "MCPError.__str__": "the text of an error is that of every `Error`",
  "SamplingMessage.content_as_list": "the type of the content is one block or a list of blocks, as on the wire",
  "CreateMessageResultWithTools.content_as_list": "the type of the content is one block or a list, as on the wire"
}

/**
 * Every name of a part that the reference documents: the sessions of its three generations, the client, the group, stdio,
 * errors. A row may say more of it after a comma. The official schema is the reference of the protocol's types.
 */
const names = `
ProgressFnT ProgressFnT.__call__ RequestResponder RequestResponder.__init__ RequestResponder.__enter__ RequestResponder.__exit__
RequestResponder.respond RequestResponder.cancel RequestResponder.in_flight RequestResponder.cancelled
BaseSession BaseSession.__init__ BaseSession.add_response_router BaseSession.__aenter__ BaseSession.__aexit__
BaseSession.send_request BaseSession.send_notification BaseSession._send_response
BaseSession._receive_request_adapter BaseSession._receive_notification_adapter BaseSession._receive_loop
BaseSession._handle_session_message BaseSession._normalize_request_id BaseSession._handle_response
BaseSession._received_request
BaseSession._received_notification BaseSession.send_progress_notification BaseSession._handle_incoming
InitializationState ServerSession ServerSession.__init__ ServerSession.client_params ServerSession.protocol_version ServerSession.experimental
ServerSession.incoming_messages ServerSession.check_client_capability ServerSession.send_request
ServerSession.send_notification ServerSession.send_log_message ServerSession.send_resource_updated
ServerSession.create_message ServerSession.list_roots ServerSession.elicit ServerSession.elicit_form
ServerSession.elicit_url ServerSession.send_elicit_complete ServerSession.send_ping
ServerSession.send_progress_notification ServerSession.report_progress ServerSession.send_resource_list_changed
ServerSession.send_tool_list_changed ServerSession.send_prompt_list_changed
ServerSession._build_create_message_request ServerSession._build_elicit_form_request
ServerSession._build_elicit_url_request ServerSession.send_message ServerSession._receive_loop
ServerSession._handle_incoming ServerSession._received_request ServerSession._received_notification
Client Client.server Client.raise_exceptions Client.read_timeout_seconds Client.sampling_callback
Client.list_roots_callback Client.logging_callback Client.message_handler Client.client_info
Client.elicitation_callback Client.__post_init__ Client.__aenter__ Client.__aexit__ Client.session Client.initialize_result Client.send_ping
Client.send_progress_notification Client.set_logging_level Client.list_resources Client.list_resource_templates
Client.read_resource Client.subscribe_resource Client.unsubscribe_resource Client.call_tool Client.list_prompts
Client.get_prompt Client.complete Client.list_tools Client.send_roots_list_changed
ClientSession.__init__ ClientSession.__aenter__ ClientSession.__aexit__ ClientSession.send_request
ClientSession.send_notification ClientSession.initialize ClientSession.initialize_result ClientSession.send_ping
ClientSession.send_progress_notification ClientSession.set_logging_level ClientSession.list_resources
ClientSession.list_resource_templates ClientSession.read_resource ClientSession.subscribe_resource
ClientSession.unsubscribe_resource ClientSession.call_tool ClientSession._validate_tool_result
ClientSession.list_prompts ClientSession.get_prompt ClientSession.complete ClientSession.list_tools
ClientSession.send_roots_list_changed ClientSession._on_request ClientSession._on_notify
ClientSession._on_stream_exception ClientSession._deliver_stream_exception
SseServerParameters StreamableHttpParameters StdioServerParameters StdioServerParameters.command
StdioServerParameters.args StdioServerParameters.env StdioServerParameters.cwd StdioServerParameters.encoding
StdioServerParameters.encoding_error_handler ClientSessionParameters
ClientSessionGroup.__init__ ClientSessionGroup.__aexit__ ClientSessionGroup.sessions ClientSessionGroup.prompts
ClientSessionGroup.resources ClientSessionGroup.tools ClientSessionGroup.component_name_hook
ClientSessionGroup.call_tool ClientSessionGroup.connect_to_server ClientSessionGroup.connect_with_session
ClientSessionGroup._establish_session ClientSessionGroup._aggregate_components
ClientSessionGroup._component_name ClientSessionGroup._ComponentNames ClientSessionGroup.disconnect_from_server
stdio_client stdio_server get_default_environment MCPError MCPError.__init__ MCPError.code MCPError.message
MCPError.data MCPError.from_jsonrpc_error MCPError.from_error_data MCPError.__str__ UrlElicitationRequiredError
UrlElicitationRequiredError.__init__ UrlElicitationRequiredError.elicitations UrlElicitationRequiredError.from_error
SamplingMessage.content_as_list CreateMessageResultWithTools.content_as_list
`.trim().split(/\s+/)

/** The rows that name several items at once. */
const together: Readonly<Record<string, string>> = {
  "Client.send_ping and all verbs":
    "set_logging_level list_resources list_resource_templates read_resource subscribe_resource unsubscribe_resource " +
    "list_prompts get_prompt complete list_tools",
  "ClientSession.send_ping and all verbs":
    "set_logging_level list_resources list_resource_templates read_resource subscribe_resource unsubscribe_resource " +
    "list_prompts get_prompt complete send_roots_list_changed",
  "ServerSession.send_tool_list_changed, send_resource_list_changed, send_prompt_list_changed":
    "send_resource_list_changed send_prompt_list_changed",
  "ClientSessionGroup.sessions, prompts, resources, tools": "prompts resources tools",
  "StdioServerParameters.args, env, cwd": "env cwd",
  "MCPError.code, message, data": "message data",
  "UrlElicitationRequiredError.__init__, elicitations, from_error": "elicitations from_error"
}

const itemsOf = (row: string): ReadonlyArray<string> => {
  const [first] = row.split(/,| and all/)
  const [owner] = row.split(".")
  return [first!, ...(together[row]?.split(" ") ?? []).map((name) => `${owner}.${name}`)]
}

const packages = new URL("../../", import.meta.url)

/** The titles of the tests of a file, as written in its source. */
const titlesOf = (file: string): ReadonlySet<string> => {
  const call = /\bit(?:\.\w+)*\(\s*(["`])((?:\\.|(?!\1)[^\\])*)\1/g
  const url = new URL(file, packages)
  if (!existsSync(url)) throw new Error(`There is no file ${file}: name the files that the tests have moved to`)
  const source = readFileSync(url, "utf8")
  return new Set(
    [...source.matchAll(call)].map(([, quote, title]) => quote === "\"" ? JSON.parse(`"${title}"`) as string : title!)
  )
}

describe("What the reference SDK does", () => {
  for (const [file, items] of Object.entries(covered)) {
    it(`is covered by the tests of ${file}`, () => {
      const titles = titlesOf(file)
      for (const [item, title] of Object.entries(items)) {
        assert.isTrue(
          titles.has(title),
          `${item}: ${file} has no test "${title}". If it was renamed or moved, change its row; if not, restore it`
        )
      }
    })
  }

  it("is listed once, covered or omitted", () => {
    const items = [...Object.values(covered), omitted].flatMap(Object.keys)
    assert.deepStrictEqual(items.filter((item, at) => items.indexOf(item) !== at), [])
  })

  it("has a row for every name of it", () => {
    const rows = [...Object.values(covered), omitted].flatMap(Object.keys)
    const items = new Set(rows.flatMap(itemsOf))
    assert.deepStrictEqual(names.filter((name) => !items.has(name)), [])
  })

  it("is found missing when its file is", () => {
    assert.throws(() => titlesOf("client/test/gone.test.ts"), "There is no file client/test/gone.test.ts")
  })

  it("is found missing when its test is", () => {
    const titles = titlesOf("client/test/reference.test.ts")
    assert.isTrue(titles.has("is found missing when its test is"))
    assert.isTrue(titles.has("is covered by the tests of ${file}"))
    assert.isFalse(titles.has("is covered by a test that does not exist"))
  })
})
