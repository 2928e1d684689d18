import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

/**
 * What the session, client, client session, session group and stdio of the reference SDK do, item by item under the SDK's
 * names, and the test that covers it here: by the file below `packages`, the item and the title of the test.
 */
const covered: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "client/test/ClientSession.progress.test.ts": {
    "ProgressFnT": "reaches the callback in order, all of it, before the result",
    "ProgressFnT, raising": "at which the callback fails is lost, and nothing else",
    "BaseSession.send_request, progress token":
      "is requested with the id of the request as token, and only with `onProgress`",
    "BaseSession._receive_loop, progress":
      "with an unknown token, or for a call that has ended, is an ordinary notification"
  },
  "client/test/Features.test.ts": {
    "RequestResponder": "may answer a custom method",
    "RequestResponder.cancel": "stops when the server cancels, and does not answer",
    "BaseSession._receive_loop, request": "refuses invalid parameters, and names the place",
    "BaseSession.send_progress_notification":
      "has the facts of the request, and reports progress when the server requested it",
    "Client, sampling_callback": "declares sampling, and answers with the model's message",
    "Client, list_roots_callback": "lists the current roots, and notifies the server when they change",
    "Client, logging_callback": "handles them from the beginning, in order, in the context of its layer",
    "Client, elicitation_callback": "has the user fill in a form; fields left out get their default",
    "ClientSession.initialize, modes of elicitation":
      "has the user open a page, and gets the notification of its completion",
    "ClientSession._on_request, ErrorData": "may answer that the user has rejected the request",
    "ClientSession._on_request, result": "does not reveal why a handler died, or what invalid result it returned",
    "ClientSession, default callbacks": "declares no capability, and refuses everything but a ping",
    "ClientSession._on_notify, raising": "loses only the message at which its handler dies"
  },
  "client/test/RequestContext.test.ts": {
    "RequestResponder.__init__": "has the facts of the request that is being answered"
  },
  "client/test/Client.test.ts": {
    "BaseSession.__aenter__": "stays connected until the scope closes",
    "Client, nothing before it is entered": "opens nothing before it is run",
    "Client.__aenter__": "when the server refuses",
    "Client.__aenter__, cancelled": "closes what it opened when it is interrupted",
    "Client.__aenter__, again": "connects again with the same connector, in a new session"
  },
  "client/test/Client.features.test.ts": {
    "RequestResponder.__init__, context":
      "get what they need from the context of the client, as an effect and as a layer",
    "ClientSession.initialize, capabilities": "are advertised in the first message, and answer from then on"
  },
  "client/test/legacy/InboundHandlers.test.ts": {
    "RequestResponder.__enter__": "has a scope of its own, which is closed before it is given",
    "BaseSession._send_response": "is narrowed to the agreed revision"
  },
  "jsonrpc/test/runtime/InFlight.test.ts": {
    "RequestResponder.__exit__": "is released before its answer is sent, however it ends",
    "RequestResponder.respond": "is answered with its result, under its unchanged id",
    "RequestResponder.in_flight": "is free again when the request is answered"
  },
  "jsonrpc/test/runtime/InFlight.cancel.test.ts": {
    "RequestResponder.respond, cancelled":
      "is not answered when its handler ${name} afterwards, and keeps its id until then",
    "RequestResponder.cancelled":
      "sends nothing more: notifications of its finalizers are dropped and their requests refused",
    "BaseSession._receive_loop, cancelled":
      "MAY be ignored when it names ${JSON.stringify(id) ?? \"nothing\"}, and 1 is in flight"
  },
  "client/test/ClientSession.test.ts": {
    "BaseSession": "each get their own result, in whatever order the results come",
    "BaseSession.send_notification": "sends a notification, without `params` when there are none",
    "BaseSession._normalize_request_id": "accept an id that came back as a string, for a result and for an error",
    "Client.send_ping and all verbs": "sends its request and gives the result: ${name}",
    "Client.call_tool, meta": "carries the `_meta` that it is given",
    "Client.send_roots_list_changed": "sends one notification for each time it is run",
    "ClientSession.send_notification": "drops the notification when the session has ended",
    "ClientSession.send_ping and all verbs": "sends one request for each time it is run"
  },
  "client/test/ClientSession.timeouts.test.ts": {
    "BaseSession.__init__, timeout": "waits without limit when its timeout is infinite",
    "BaseSession.send_request, timeout of the session": "waits as long as the client's option says",
    "BaseSession.send_request, timeout of the request":
      "waits as long as its own option says, whatever the client's says",
    "BaseSession.send_request, timeout of 0": "with a timeout of 0 fails at once and sends nothing",
    "BaseSession.send_request, timed out":
      "that was not answered in time does not affect the client; the late answer is a diagnostic",
    "Client, read_timeout_seconds": "waits for 60 seconds",
    "ClientSession.send_request, timeouts": "waits longer than the client's option says, when its own says so"
  },
  "jsonrpc/test/runtime/Pending.test.ts": {
    "BaseSession.__init__, ids": "is never used twice",
    "BaseSession.send_request, id": "sends a request, and its answer is the result",
    "BaseSession._normalize_request_id, of others":
      "is not ${JSON.stringify(id)} when it is 1; such an answer is reported"
  },
  "client/test/ClientSession.closing.test.ts": {
    "BaseSession.__aexit__": "leaves no fiber and no timer when its scope closes in the middle of a call",
    "BaseSession.send_request, finally": "leaves no fiber and no timer after calls that end in every way",
    "BaseSession._receive_loop, exception of the transport":
      "fails `ended` and the calls in flight with the error of the transport",
    "Client, Transport": "leaves no fiber and no timer when the server hangs up in the middle of a call",
    "Client.__aexit__": "ends its streams with its scope",
    "Client.session, outside of its scope": "sends nothing once its scope has closed, and fails every call",
    "ClientSession.__aenter__": "leaves no fiber and no timer when it cannot connect",
    "ClientSession.__aexit__": "interrupts the handlers of the server's requests when its scope closes"
  },
  "client/test/Telemetry.test.ts": {
    "BaseSession.send_request, span": "has a span with its method, its tool and its kind of error",
    "BaseSession.send_request, trace context": "sends its span to the server; it is a child of the caller's"
  },
  "jsonrpc/test/runtime/Pending.deadlines.test.ts": {
    "BaseSession.send_request, clock": "applies to a transport that accepts nothing"
  },
  "client/test/ClientSession.errors.test.ts": {
    "BaseSession.send_request, error": "fails the call with its typed error: ${error.code} \"${error.message}\"",
    "BaseSession.send_request, result": "fails only its call, with the place in the message: ${name}",
    "BaseSession._receive_loop, finally": "fails every call that waits, and every call to come"
  },
  "jsonrpc/test/Conversation.test.ts": {
    "BaseSession._receive_loop, handlers": "continues while handlers of every kind never end"
  },
  "client/test/ClientSession.faults.test.ts": {
    "BaseSession._receive_loop, malformed": "${stages[stage]}, ${row.it}",
    "ClientSession.send_request, after close": "while it is closed, delays neither the closing nor the call in flight"
  },
  "client/test/Notifications.test.ts": {
    "BaseSession._handle_response": "is a diagnostic when no call waits for it",
    "BaseSession._received_request": "is answered while a call waits that has the same id",
    "BaseSession._received_notification": "reaches the listeners of the client, in order, until the session ends",
    "ClientSession._on_request, unknown": "is answered with \"method not found\" when no feature handles it",
    "ClientSession._on_request, ping": "is answered when it is a ping",
    "ClientSession._on_stream_exception": "does not wait for a slow listener",
    "ClientSession._deliver_stream_exception": "may cause calls: from its listener, and from the logging feature"
  },
  "client/test/session/NotificationHub.test.ts": {
    "BaseSession._handle_incoming": "reaches the listeners, and the log when there is none",
    "Client, message_handler": "reach every listener in order, from when it begins to listen",
    "ClientSession._on_notify, malformed": "that are valid changes, updates and completions have their streams",
    "ClientSession._on_notify, logging": "that are valid log messages are in `logs`"
  },
  "client/test/ClientSessionGroup.test.ts": {
    "Client, server in the process": "has the entries of all its servers, and sends a call to the right one",
    "ClientSessionGroup._ComponentNames": "disconnects servers in any order, each with its entries",
    "ClientSessionGroup.__init__, exit_stack": "is a layer, which is built when its servers are connected",
    "ClientSessionGroup.__aexit__": "closes all servers that it has connected with its scope",
    "ClientSessionGroup.__aexit__, concurrently": "closes its servers concurrently",
    "ClientSessionGroup.sessions, prompts, resources, tools":
      "has the entries of all its servers, and sends a call to the right one",
    "ClientSessionGroup.connect_to_server": "refuses a second server of one name, and a server that cannot be reached",
    "ClientSessionGroup.connect_with_session":
      "accepts a session that the application has connected, and does not close it",
    "ClientSessionGroup._establish_session": "has nothing of a server when connecting was interrupted",
    "#3384": "accepts a server that offers nothing, and disconnects it",
    "#788, #922, #577": "loses only the entries of a server that ends",
    "ClientSessionGroup, list_changed": "follows a server whose lists change"
  },
  "client/test/ClientSessionGroup.names.test.ts": {
    "ClientSessionGroup.component_name_hook": "has the names of its hook for tools and prompts",
    "ClientSessionGroup.call_tool": "sends the names that the servers use",
    "#3490": "refuses a server with a name that another server has, and closes it, when `onCollision` is \"fail\""
  },
  "client/test/Remote.test.ts": {
    "Client, URL": "is reached by a client"
  },
  "node/test/interop/OfficialServers.test.ts": {
    "Client, StdioServerParameters": "complete the handshake, and list and call tools"
  },
  "client/test/legacy/Initialize.test.ts": {
    "Client, client_info": "with the `clientInfo` of the options",
    "Client.initialize_result": "gives the facts of the server",
    "ClientSession.send_request, initialize": "MUST NOT be cancelled when it is not answered in time",
    "ClientSession.initialize, unsupported version": "although it is implemented, when the options leave it out",
    "ClientSession.initialize, initialized":
      "MUST be followed by one initialized notification, before any other request",
    "ClientSession.initialize_result": "the latest revision that has it, with the client's name and capabilities"
  },
  "client/test/ClientSession.pages.test.ts": {
    "Client.list_tools, cursor": "end with an empty cursor, which is none up to 2025-11-25"
  },
  "client/test/legacy/ResumePoint.test.ts": {
    "ClientSession.send_request, resumption token": "after the last event id and the last retry, within bounds"
  },
  "client/test/session/Calls.test.ts": {
    "ClientSession.send_request, per version": "sends only what the revision knows"
  },
  "client/test/session/OutputCheck.test.ts": {
    "ClientSession.call_tool": "of a failed tool is not checked",
    "ClientSession._validate_tool_result":
      "is checked against the schema that the server lists, which is requested once",
    "ClientSession._validate_tool_result, not listed":
      "is accepted, and the reason is reported, when there is no schema: ${JSON.stringify(list)}",
    "ClientSession._validate_tool_result, no content":
      "that the schema requires and the result does not have fails the call",
    "ClientSession._validate_tool_result, broken schema":
      "is accepted, and the reason is reported once, with a schema that cannot be used: ${why}",
    "ClientSession._validate_tool_result, changed": "is checked against the new schema after the tools have changed",
    "ClientSession.list_tools": "is checked against the schema of the page that came last"
  },
  "client/test/ServersConfig.test.ts": {
    "SseServerParameters": "names programs and addresses"
  },
  "client/test/http/Settings.test.ts": {
    "StreamableHttpParameters": "have a default for every bound"
  },
  "client/test/legacy/Http.test.ts": {
    "StreamableHttpParameters, terminate_on_close": "SHOULD end its session when it closes, once"
  },
  "node/test/interop/OfficialOffers.test.ts": {
    "ClientSessionParameters": "reconnect in a group with a new process when the server is killed"
  },
  "client/test/group/ServerLists.test.ts": {
    "ClientSessionGroup._aggregate_components, refused list": "is empty where the server answers with an error",
    "ClientSessionGroup, first page only": "are read where the server declares the capability, all pages of them"
  },
  "client/test/group/Entries.test.ts": {
    "ClientSessionGroup._aggregate_components, duplicates":
      "stays with the earlier server; every entry of the later one is there, with the server's name before its own",
    "ClientSessionGroup, resources by name": "have the names that the server uses, resources their URIs"
  },
  "client/test/GroupError.test.ts": {
    "ClientSessionGroup.disconnect_from_server": "names the collision, and what to do"
  },
  "node/test/StdioClient.test.ts": {
    "StdioServerParameters": "passes the listed variables and the given ones to the server, and no others",
    "stdio_client, errlog": "passes stderr on byte by byte: ${mode}",
    "stdio_client, stdout_reader": "reads no faster than the messages are taken",
    "stdio_client, stdout_reader, bad line": "survives lines that are no messages and bytes that are no UTF-8"
  },
  "jsonrpc/test/LineFraming.test.ts": {
    "StdioServerParameters, encoding_error_handler":
      "replaces bytes that are not UTF-8, or refuses their line with the option; the next line is read either way"
  },
  "node/test/subprocess/Environment.test.ts": {
    "get_default_environment": "inherits only the listed variables",
    "get_default_environment, Windows": "has another list for Windows",
    "get_default_environment, functions": "does not inherit shell functions"
  },
  "node/test/Faults.matrix.test.ts": {
    "stdio_client, OSError": "${what} fails the connection with the reason",
    "stdio_client, stdout_reader, failure": "${stages[stage]}, ${row.it}"
  },
  "node/test/subprocess/Launch.test.ts": {
    "stdio_client, NUL": "refuses values that the system cannot take, without quoting them",
    "stdio_client, process group": "starts a program with pipes, as leader of its own group"
  },
  "node/test/subprocess/WindowsCommand.test.ts": {
    "stdio_client, Windows": "finds a program as Windows does"
  },
  "node/test/stdio/Output.test.ts": {
    "stdio_client, stdin_writer": "writes the messages of one turn at once, one line each"
  },
  "node/test/stdio/Pipe.test.ts": {
    "stdio_client, stdin_writer, failure": "fails `incoming` when the output breaks, so that no call waits"
  },
  "node/test/StdioClient.closing.test.ts": {
    "stdio_client, shutdown 1: draining": "drains unread output, so that the server can exit by itself",
    "stdio_client, shutdown 2: flush": "writes the messages that were sent just before",
    "stdio_client, shutdown 2: bounded": "is not delayed by a write into a pipe that the server does not read",
    "stdio_client, shutdown 3: end of input": "does not signal a server that exits when its input ends",
    "stdio_client, shutdown 5: SIGKILL": "ends all processes that the server has started",
    "stdio_client, shutdown, uninterruptible": "takes all steps when it is interrupted"
  },
  "node/test/subprocess/Subprocess.test.ts": {
    "stdio_client, shutdown 4: SIGTERM": "waits for a program that exits on SIGTERM",
    "stdio_client, shutdown 6: abandoned":
      "leaves a process that cannot be ended, with a warning, and does not keep this one alive",
    "stdio_client, shutdown 7: pipes": "leaves no listener and no pipe",
    "stdio_client, exits by itself": "does not signal a program that exits by itself",
    "stdio_client, surviving children": "ends the processes that a killed leader has left"
  },
  "node/test/subprocess/ProcessGroup.test.ts": {
    "stdio_client, EPERM": "does not count zombies as alive"
  },
  "node/test/StdioServer.test.ts": {
    "stdio_server, bad line": "survives bytes that are no messages",
    "stdio_server, stdin": "answers a last line without a newline, and exits",
    "stdio_server, stdout": "answers each request with one line",
    "stdio_server, standard streams are its own": "lets no print of a handler reach standard output",
    "stdio_server, children of handlers": "lets no child of a handler inherit its streams",
    "stdio_server, restored": "releases the streams when it ends",
    "stdio_server, second claim": "refuses a second claim on the same streams",
    "stdio_server, explicit streams": "claims no standard stream, and serves any number of clients"
  }
}

/** Items of the reference SDK without an equivalent, and why. */
const omitted: Readonly<Record<string, string>> = {
  "BaseSession.add_response_router": "routers are for tasks, which are not implemented yet",
  "BaseSession._receive_request_adapter": "there are no subclasses",
  "BaseSession._receive_notification_adapter": "there are no subclasses",
  "BaseSession.send_notification, related_request_id": "a client's notifications belong to no request",
  "Client, raise_exceptions": "a server in the same process fails as any other does",
  "Client.session": "the client and its session are the same value",
  "ClientSession.__init__, streams xor dispatcher": "there is one way to make it, from a transport",
  "ClientSession.send_notification, before entering": "a session exists only after its handshake"
}

const packages = new URL("../../", import.meta.url)

/** The titles of the tests of a file, as written in its source. */
const titlesOf = (file: string): ReadonlySet<string> => {
  const call = /\bit(?:\.\w+)*\(\s*(["`])((?:\\.|(?!\1)[^\\])*)\1/g
  const source = readFileSync(new URL(file, packages), "utf8")
  return new Set(
    [...source.matchAll(call)].map(([, quote, title]) => quote === "\"" ? JSON.parse(`"${title}"`) as string : title!)
  )
}

describe("What the reference SDK does", () => {
  for (const [file, items] of Object.entries(covered)) {
    it(`is covered by the tests of ${file}`, () => {
      const titles = titlesOf(file)
      for (const [item, title] of Object.entries(items)) {
        assert.isTrue(titles.has(title), `${item}: there is no test "${title}"`)
      }
    })
  }

  it("is listed once, covered or omitted", () => {
    const items = [...Object.values(covered), omitted].flatMap(Object.keys)
    assert.deepStrictEqual(items.filter((item, at) => items.indexOf(item) !== at), [])
  })

  it("is found missing when its test is", () => {
    const titles = titlesOf("client/test/reference.test.ts")
    assert.isTrue(titles.has("is found missing when its test is"))
    assert.isTrue(titles.has("is covered by the tests of ${file}"))
    assert.isFalse(titles.has("is covered by a test that does not exist"))
  })
})
