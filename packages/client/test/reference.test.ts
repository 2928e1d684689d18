import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

/**
 * What the reference SDK's session, client, client session, session group and stdio are known to do, item by item under its
 * own names, and the test that keeps it: by the test's file below `packages`, the item and the title of the test.
 */
const kept: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "client/test/ClientSession.progress.test.ts": {
    "ProgressFnT": "is heard in order, all of it, before the result",
    "ProgressFnT, raising": "that the listener fails on costs that piece of it",
    "BaseSession.send_request, progress token":
      "is asked for with the id of the request as token, and only by who wants to hear of it",
    "BaseSession._receive_loop, progress": "of nothing, or of what is over, is a notification like any other"
  },
  "client/test/Features.test.ts": {
    "RequestResponder": "may answer a method of its own",
    "RequestResponder.cancel": "stops when the server cancels, and does not answer",
    "BaseSession._receive_loop, request": "refuses what is no request for a message, and says where",
    "BaseSession.send_progress_notification": "knows what was asked, and says how far it is to who wants to know",
    "Client, sampling_callback": "says so, and has it go on",
    "Client, list_roots_callback": "lists them as they are at the moment, and tells that they have changed",
    "Client, logging_callback": "hears them from the beginning, in order, with what its handler needs",
    "Client, elicitation_callback": "has them fill in a form; what they leave out gets its default",
    "ClientSession.initialize, modes of elicitation": "has them open a page, and hears when they are done there",
    "ClientSession._on_request, ErrorData": "may say that the person has refused",
    "ClientSession._on_request, result":
      "says nothing of a handler that dies, or answers something else than the result",
    "ClientSession, default callbacks": "says that it can do nothing, and refuses everything but a ping",
    "ClientSession._on_notify, raising": "loses none but the one that its handler dies of"
  },
  "client/test/RequestContext.test.ts": {
    "RequestResponder.__init__": "is of the question that is being answered, and of no other"
  },
  "client/test/Client.test.ts": {
    "BaseSession.__aenter__": "stays connected until the scope closes",
    "Client, nothing before it is entered": "opens nothing before it is run",
    "Client.__aenter__": "when the server refuses",
    "Client.__aenter__, cancelled": "closes what it opened when it is interrupted",
    "Client.__aenter__, again": "connects again with the same connector, to a conversation of its own"
  },
  "client/test/Client.features.test.ts": {
    "RequestResponder.__init__, context":
      "take what they need from where the client is made, as an effect and as a layer",
    "ClientSession.initialize, capabilities": "are advertised from the first message on, and answer from then on"
  },
  "client/test/legacy/InboundHandlers.test.ts": {
    "RequestResponder.__enter__": "has a scope of its own, which is closed before it is given",
    "BaseSession._send_response": "is said in the words of the revision that was agreed on"
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
    "BaseSession": "each get their own answer, in whatever order the answers come",
    "BaseSession.send_notification": "says a notification, without parameters when there are none",
    "BaseSession._normalize_request_id": "take an id that came back as the other kind, for a result and for an error",
    "Client.send_ping and all verbs": "says what it means and gives the answer: ${name}",
    "Client.call_tool, meta": "carries the `_meta` that it is given",
    "Client.send_roots_list_changed": "says so, once for each time it is run",
    "ClientSession.send_notification": "drops it when nobody is left to hear it",
    "ClientSession.send_ping and all verbs": "is said once for each time it is run"
  },
  "client/test/ClientSession.timeouts.test.ts": {
    "BaseSession.__init__, timeout": "waits for ever when it was told so",
    "BaseSession.send_request, timeout of the session": "waits as long as the client was told",
    "BaseSession.send_request, timeout of the request": "waits as long as it was told, whatever the client was told",
    "BaseSession.send_request, timeout of 0": "with a timeout of 0 fails at once and says nothing",
    "BaseSession.send_request, timed out":
      "that was not answered in time leaves the client as it was; the answer that comes late is a diagnostic",
    "Client, read_timeout_seconds": "waits for 60 seconds",
    "ClientSession.send_request, timeouts": "waits longer than the client was told, when it was told so"
  },
  "jsonrpc/test/runtime/Pending.test.ts": {
    "BaseSession.__init__, ids": "is never used twice",
    "BaseSession.send_request, id": "sends a request, and its answer is the result",
    "BaseSession._normalize_request_id, of others":
      "is not ${JSON.stringify(id)} when it is 1; such an answer is reported"
  },
  "client/test/ClientSession.closing.test.ts": {
    "BaseSession.__aexit__": "leaves no fiber and no timer when its scope closes in the middle of a call",
    "BaseSession.send_request, finally": "leaves no fiber and no timer after calls of every ending",
    "BaseSession._receive_loop, exception of the transport":
      "says why the transport ended, to who waits for the end and to who is in a call",
    "Client, Transport": "leaves no fiber and no timer when the server hangs up in the middle of a call",
    "Client.__aexit__": "ends its streams with its scope",
    "Client.session, outside of its scope": "says no more once its scope has closed, and fails who asks it to",
    "ClientSession.__aenter__": "leaves no fiber and no timer when it cannot connect",
    "ClientSession.__aexit__": "stops what it is answering when its scope closes"
  },
  "client/test/Telemetry.test.ts": {
    "BaseSession.send_request, span": "has a span that says which method it is, of which tool, and how it has failed",
    "BaseSession.send_request, trace context": "tells the server of its span, which is a child of the caller's"
  },
  "jsonrpc/test/runtime/Pending.deadlines.test.ts": {
    "BaseSession.send_request, clock": "applies to a transport that accepts nothing"
  },
  "client/test/ClientSession.errors.test.ts": {
    "BaseSession.send_request, error": "fails the call as what it is: ${error.code} \"${error.message}\"",
    "BaseSession.send_request, result": "fails its call, which says where, and nothing else: ${name}",
    "BaseSession._receive_loop, finally": "fails every call that waits, and every call to come"
  },
  "jsonrpc/test/Conversation.test.ts": {
    "BaseSession._receive_loop, handlers": "continues while handlers of every kind never end"
  },
  "client/test/ClientSession.faults.test.ts": {
    "BaseSession._receive_loop, malformed": "${stages[stage]}, ${row.it}",
    "ClientSession.send_request, after close":
      "as it is closed, keeps nobody: neither who closes nor the call that waits"
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
    "Client, server in the process": "offers what all of them do, and calls the one that is meant",
    "ClientSessionGroup._ComponentNames": "lets servers go in any order, each with its own",
    "ClientSessionGroup.__init__, exit_stack": "is a layer, there when its servers are",
    "ClientSessionGroup.__aexit__": "closes all servers that it has connected with its scope",
    "ClientSessionGroup.__aexit__, concurrently": "closes its servers at once, however long each takes",
    "ClientSessionGroup.sessions, prompts, resources, tools":
      "offers what all of them do, and calls the one that is meant",
    "ClientSessionGroup.component_name_hook":
      "knows tools and prompts by the names that its hook gives them, and servers by their own",
    "ClientSessionGroup.call_tool": "asks servers for tools and prompts by the names that they know",
    "ClientSessionGroup.connect_to_server": "refuses a second server of one name, and a server that cannot be reached",
    "ClientSessionGroup.connect_with_session": "takes in what somebody else has connected, and does not close it",
    "ClientSessionGroup._establish_session": "has nothing of a server whose connecting was given up",
    "#3490": "refuses a server that brings a name which is taken, and nothing of it stays",
    "#3384": "takes in a server that offers nothing, and lets it go",
    "#788, #922, #577": "loses with a server that dies what that one had, and no more",
    "ClientSessionGroup, list_changed": "follows a server whose lists change"
  },
  "client/test/Remote.test.ts": {
    "Client, URL": "is reached by a client"
  },
  "node/test/interop/OfficialServers.test.ts": {
    "Client, StdioServerParameters": "shake hands, list and call tools"
  },
  "client/test/legacy/Initialize.test.ts": {
    "Client, client_info": "under the name that it was given",
    "Client.initialize_result": "gives what the server said of itself",
    "ClientSession.send_request, initialize": "MUST NOT be cancelled: one that is not answered in time is left alone",
    "ClientSession.initialize, unsupported version": "although we know it, when we were told not to speak it",
    "ClientSession.initialize, initialized":
      "MUST be followed by one initialized notification, before any other request",
    "ClientSession.initialize_result": "for the latest revision that has it, and says who it is and what it can do"
  },
  "client/test/ClientSession.pages.test.ts": {
    "Client.list_tools, cursor": "MUST NOT end with an empty cursor: it is one like any other"
  },
  "client/test/legacy/ResumePoint.test.ts": {
    "ClientSession.send_request, resumption token": "after the last event id and the last retry, within bounds"
  },
  "client/test/session/Calls.test.ts": {
    "ClientSession.send_request, per version": "sends only what the revision knows"
  },
  "client/test/session/OutputCheck.test.ts": {
    "ClientSession.call_tool": "of a failure is nobody's promise",
    "ClientSession._validate_tool_result": "is put to the schema that the server lists, which is asked for once",
    "ClientSession._validate_tool_result, not listed": "is not lost to trouble with the list: ${JSON.stringify(list)}",
    "ClientSession._validate_tool_result, no content": "that a tool promises and does not give fails its call",
    "ClientSession._validate_tool_result, broken schema":
      "is not put to a schema that cannot be used safely: ${JSON.stringify(outputSchema)}",
    "ClientSession._validate_tool_result, changed":
      "is put to the new schema when the server says that its tools have changed",
    "ClientSession.list_tools": "is put to what each page of the list has said, whichever came last"
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
    "ClientSessionParameters": "are a member of a group that comes back with a new process when it is killed"
  },
  "client/test/group/ServerLists.test.ts": {
    "ClientSessionGroup._aggregate_components, refused list": "is empty where the server answers with an error",
    "ClientSessionGroup, first page only": "are read where the server declares the capability, all pages of them"
  },
  "client/test/group/Entries.test.ts": {
    "ClientSessionGroup._aggregate_components, duplicates":
      "are not added when another server has a name of theirs: ${kind}",
    "ClientSessionGroup, resources by name": "have the names that the server uses, resources their URIs"
  },
  "client/test/GroupError.test.ts": {
    "ClientSessionGroup.disconnect_from_server": "says what is in the way, and what to do"
  },
  "node/test/StdioClient.test.ts": {
    "StdioServerParameters": "gives the server the listed variables, the given ones over them, and nothing else",
    "stdio_client, errlog": "lets its stderr be seen, byte by byte: ${mode}",
    "stdio_client, stdout_reader": "reads no faster than the messages are taken",
    "stdio_client, stdout_reader, bad line": "survives lines that are no messages and bytes that are no UTF-8"
  },
  "jsonrpc/test/LineFraming.test.ts": {
    "StdioServerParameters, encoding_error_handler":
      "replaces bytes that are not UTF-8, or refuses their line with the option; the next line is read either way"
  },
  "node/test/subprocess/Environment.test.ts": {
    "get_default_environment": "inherits what is on the list, and nothing else",
    "get_default_environment, Windows": "has a list of its own for Windows",
    "get_default_environment, functions": "inherits no shell function"
  },
  "node/test/Faults.matrix.test.ts": {
    "stdio_client, OSError": "${what} fails who connects, who is told so",
    "stdio_client, stdout_reader, failure": "${stages[stage]}, ${row.it}"
  },
  "node/test/subprocess/Launch.test.ts": {
    "stdio_client, NUL": "refuses what the system cannot be told, without repeating a value",
    "stdio_client, process group": "starts a program with pipes, as leader of its own group"
  },
  "node/test/subprocess/WindowsCommand.test.ts": {
    "stdio_client, Windows": "finds a program as the system would"
  },
  "node/test/stdio/Output.test.ts": {
    "stdio_client, stdin_writer": "writes what is said in one turn in one go, one line each"
  },
  "node/test/stdio/Pipe.test.ts": {
    "stdio_client, stdin_writer, failure": "fails what comes in when nothing can be written, so that no call waits"
  },
  "node/test/StdioClient.closing.test.ts": {
    "stdio_client, shutdown 1: draining": "drains what nobody has read, so that the server can end by itself",
    "stdio_client, shutdown 2: flush": "writes what was said just before",
    "stdio_client, shutdown 2: bounded": "is not held up by a write into a pipe that nobody reads",
    "stdio_client, shutdown 3: end of input": "leaves a server alone that ends with its input",
    "stdio_client, shutdown 5: SIGKILL": "ends the whole tree below the server",
    "stdio_client, shutdown, uninterruptible": "does all of it when it was interrupted"
  },
  "node/test/subprocess/Subprocess.test.ts": {
    "stdio_client, shutdown 4: SIGTERM": "lets a program that heeds SIGTERM end in its own way",
    "stdio_client, shutdown 6: abandoned": "gives up what cannot be ended, with a warning, and lets our process go",
    "stdio_client, shutdown 7: pipes": "leaves no listener and no pipe",
    "stdio_client, exits by itself": "never signals a program that ends by itself",
    "stdio_client, surviving children": "ends what a leader that has died has left behind"
  },
  "node/test/subprocess/ProcessGroup.test.ts": {
    "stdio_client, EPERM": "does not take the dead, whom nobody has asked about, for the living"
  },
  "node/test/StdioServer.test.ts": {
    "stdio_server, bad line": "survives whatever is no message",
    "stdio_server, stdin": "answers the last line although it has no end, and exits",
    "stdio_server, stdout": "answers, one line for each",
    "stdio_server, standard streams are its own": "keeps its standard output to itself, whatever a handler prints",
    "stdio_server, children of handlers": "keeps both its streams from the children of a handler",
    "stdio_server, restored": "gives the streams back when it is over",
    "stdio_server, second claim": "refuses a second claim on the same streams",
    "stdio_server, explicit streams": "claims nothing, and serves as many as there are"
  }
}

/** Items of the reference that nothing here corresponds to, and why. */
const left: Readonly<Record<string, string>> = {
  "BaseSession.add_response_router": "routers are there for tasks, which are not spoken yet",
  "BaseSession._receive_request_adapter": "there are no subclasses to ask",
  "BaseSession._receive_notification_adapter": "there are no subclasses to ask",
  "BaseSession.send_notification, related_request_id": "a client's notifications belong to no request",
  "Client, raise_exceptions": "a server in the same process fails as any other does",
  "Client.session": "who has a client has its session: they are the same value",
  "ClientSession.__init__, streams xor dispatcher": "there is one way to make it, from a transport",
  "ClientSession.send_notification, before entering": "a session that there is has shaken hands"
}

const packages = new URL("../../", import.meta.url)

/** The titles of the tests of a file, as they stand there. */
const titlesOf = (file: string): ReadonlySet<string> => {
  const call = /\bit(?:\.\w+)*\(\s*(["`])((?:\\.|(?!\1)[^\\])*)\1/g
  const source = readFileSync(new URL(file, packages), "utf8")
  return new Set(
    [...source.matchAll(call)].map(([, quote, title]) => quote === "\"" ? JSON.parse(`"${title}"`) as string : title!)
  )
}

describe("What the reference is known to do", () => {
  for (const [file, items] of Object.entries(kept)) {
    it(`is kept by tests that there are in ${file}`, () => {
      const titles = titlesOf(file)
      for (const [item, title] of Object.entries(items)) {
        assert.isTrue(titles.has(title), `${item}: there is no test "${title}"`)
      }
    })
  }

  it("stands here once, whether it is kept or left", () => {
    const items = [...Object.values(kept), left].flatMap(Object.keys)
    assert.deepStrictEqual(items.filter((item, at) => items.indexOf(item) !== at), [])
  })

  it("is found missing when the test is", () => {
    const titles = titlesOf("client/test/reference.test.ts")
    assert.isTrue(titles.has("is found missing when the test is"))
    assert.isTrue(titles.has("is kept by tests that there are in ${file}"))
    assert.isFalse(titles.has("is kept by a test that is not there"))
  })
})
