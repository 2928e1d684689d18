/**
 * What the client of the reference SDK does, and the tests of the client that cover it. `reference.test.ts` checks the rows.
 */
export const covered: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "client/test/ClientSession.progress.test.ts": {
    "ProgressFnT": "reaches the callback in order, all of it, before the result",
    "ProgressFnT.__call__": "reaches the callback in order, all of it, before the result",
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
    "Client.send_progress_notification":
      "has the facts of the request, and reports progress when the server requested it",
    "ClientSession.send_progress_notification":
      "has the facts of the request, and reports progress when the server requested it",
    "Client.sampling_callback": "declares sampling, and answers with the model's message",
    "Client.list_roots_callback": "lists the current roots, and notifies the server when they change",
    "Client.logging_callback": "handles them from the beginning, in order, in the context of its layer",
    "Client.elicitation_callback": "has the user fill in a form; fields left out get their default",
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
    "Client.read_timeout_seconds": "waits for 60 seconds",
    "ClientSession.send_request, timeouts": "waits longer than the client's option says, when its own says so"
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
  "client/test/ClientSession.errors.test.ts": {
    "BaseSession.send_request, error": "fails the call with its typed error: ${error.code} \"${error.message}\"",
    "BaseSession.send_request, result": "fails only its call, with the place in the message: ${name}",
    "BaseSession._receive_loop, finally": "fails every call that waits, and every call to come"
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
    "Client.message_handler": "reach every listener in order, from when it begins to listen",
    "ClientSession._on_notify, malformed": "that are valid changes, updates and completions have their streams",
    "ClientSession._on_notify, logging": "that are valid log messages are in `logs`"
  },
  "client/test/ClientSessionGroup.test.ts": {
    "Client.server, in the process": "has the entries of all its servers, and sends a call to the right one",
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
    "ClientSessionGroup._component_name": "has the names of its hook for tools and prompts",
    "ClientSessionGroup.call_tool": "sends the names that the servers use",
    "#3490": "refuses a server with a name that another server has, and closes it, when `onCollision` is \"fail\""
  },
  "client/test/Remote.test.ts": {
    "Client.server, URL": "is reached by a client"
  },
  "client/test/legacy/Connect.handshake.test.ts": {
    "Client.client_info": "with the `clientInfo` of the options",
    "Client.initialize_result": "gives the facts of the server",
    "ClientSession.send_request, initialize": "MUST NOT be cancelled when it is not answered in time",
    "ClientSession.initialize, unsupported version": "although it is implemented, when the options leave it out",
    "ClientSession.initialize, initialized":
      "MUST be followed by one initialized notification, before any other request",
    "ClientSession.initialize_result": "the latest revision that has it, with the client's name and capabilities"
  },
  "client/test/Pages.test.ts": {
    "Client.list_tools, cursor": "ends every list up to 2025-11-25, and leads to a page from 2026-07-28 on: ${version}"
  },
  "client/test/Remote.resuming.test.ts": {
    "ClientSession.send_request, resumption_token": "resumes a call with its last token: the request is not sent again",
    "ClientSession.send_request, resumption_token of another transport":
      "A transport that cannot resume requests sends none that has a token"
  },
  "client/test/http/Events.test.ts": {
    "StreamableHttpParameters, sse_read_timeout":
      "count as cut off when no byte comes for as long as `readTimeout`; a comment is enough"
  },
  "client/test/session/MethodCalls.test.ts": {
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
  "client/test/ClientError.test.ts": {
    "MCPError": "gives the typed error for the code of the server's error",
    "MCPError.from_jsonrpc_error": "gives the typed error for the code of the server's error",
    "MCPError.from_error_data": "gives the typed error for the code of the server's error",
    "MCPError.code, message, data": "gives the typed error for the code of the server's error",
    "UrlElicitationRequiredError": "gives the typed error for the code of the server's error"
  },
  "client/test/ClientSession.negotiated.test.ts": {
    "ClientSession.send_request, capabilities": "\"${method}\" is not sent to a server without \"${capability}\""
  },
  "client/test/ClientSession.questions.test.ts": {
    "ClientSession.send_request, timeouts of methods": "is that of `timeouts`, unless the call has its own"
  },
  "client/test/ServersConfig.test.ts": {
    "SseServerParameters": "names programs and addresses"
  },
  "client/test/http/Settings.test.ts": {
    "StreamableHttpParameters": "have a default for every bound"
  },
  "client/test/legacy/Http.test.ts": {
    "StreamableHttpParameters, terminate_on_close": "SHOULD end its session when it closes, once",
    "StreamableHttpParameters, terminate_on_close=False": "does not end its session with `terminateOnClose: false`"
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
  }
}
