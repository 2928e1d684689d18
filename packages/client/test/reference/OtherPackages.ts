/**
 * What the sessions, servers and pipes of the reference SDK do, and the tests of the other packages that cover it.
 * `reference.test.ts` checks the rows.
 */
export const covered: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "testing/test/TestServer.test.ts": {
    "Client.raise_exceptions": "dies with the cause of a handler that died, over ${transport}"
  },
  "protocol/test/McpError.test.ts": {
    "MCPError.__init__": "${error._tag} is ${code} in the ${era} era and comes back as ${lost?.[era] ?? \"itself\"}",
    "UrlElicitationRequiredError.__init__, elicitations, from_error":
      "keeps the message of the peer about URLs to elicit"
  },
  "jsonrpc/test/runtime/Requests.test.ts": {
    "RequestResponder.__exit__": "is released before its answer is sent, however it ends",
    "RequestResponder.respond": "is answered with its result, under its unchanged id",
    "RequestResponder.in_flight": "is free again when the request is answered"
  },
  "jsonrpc/test/runtime/Requests.cancel.test.ts": {
    "RequestResponder.respond, cancelled":
      "is not answered when its handler ${name} afterwards, and keeps its id until then",
    "RequestResponder.cancelled":
      "sends nothing more: notifications of its finalizers are dropped and their requests refused",
    "BaseSession._receive_loop, cancelled":
      "MAY be ignored when it names ${JSON.stringify(id) ?? \"nothing\"}, and 1 is in flight"
  },
  "jsonrpc/test/runtime/Calls.test.ts": {
    "BaseSession.__init__, ids": "is never used twice",
    "BaseSession.send_request, id": "sends a request, and its answer is the result",
    "BaseSession._normalize_request_id, of others":
      "is not ${JSON.stringify(id)} when it is 1; such an answer is reported"
  },
  "jsonrpc/test/runtime/Calls.deadlines.test.ts": {
    "BaseSession.send_request, clock": "applies to a transport that accepts nothing"
  },
  "jsonrpc/test/Conversation.test.ts": {
    "BaseSession._handle_session_message": "is ordered: a request is started before the next message is handled",
    "BaseSession._receive_loop, handlers": "continues while handlers of every kind never end"
  },
  "node/test/interop/OfficialServers.test.ts": {
    "Client, StdioServerParameters": "complete the handshake, and list and call tools"
  },
  "server/test/ServerSession.test.ts": {
    "ServerSession": "sends requests to the client of its own request, and takes answers from no other",
    "ServerSession.send_request": "sends a request to the client, and the handler waits for the answer",
    "ServerSession.send_request, related_request_id absent":
      "sends requests outside of its own, also after its own was answered"
  },
  "server/test/Dispatcher.test.ts": {
    "ServerSession.__init__": "serves every client of a listener, each in a conversation of its own",
    "ServerSession._receive_loop": "serves one client until the client closes the transport"
  },
  "server/test/RequestContext.test.ts": {
    "ServerSession, of one request": "stays that of its request, however many others arrive meanwhile",
    "ServerSession.client_params": "has the facts of the request and of its client",
    "ServerSession.check_client_capability": "knows whether the client has all capabilities of a set",
    "ServerSession.send_notification":
      "notifies its own client outside of requests, also after its request was answered",
    "ServerSession.stateless": "has no session, headers or principal on a transport other than HTTP"
  },
  "server/test/legacy/Initialize.test.ts": {
    "ServerSession.protocol_version": "MUST be answered with ${version} when that is what the client asked for",
    "ServerSession.initialize, unknown version":
      "MUST be answered with the latest version of the server when the client asked for \"${version}\"",
    "InitializationState": "takes effect before any message that was sent after it",
    "ServerSession, InitializeResult": "gives the name of the server, its capabilities and its instructions"
  },
  "server/test/legacy/Serve.test.ts": {
    "ServerSession._received_request, gate": "SHOULD NOT serve a request before initialize, other than a ping",
    "ServerSession._received_request, unknown": "answers -32601 to unknown methods, before initialize and after"
  },
  "server/test/legacy/ServerSession.test.ts": {
    "ServerSession.send_progress_notification": "is sent with the token of the request, before its result",
    "ServerSession.report_progress": "is not sent to a client that did not ask for it"
  },
  "server/test/legacy/Questions.sampling.test.ts": {
    "ServerSession.create_message": "continues messages",
    "ServerSession.create_message, tools": "uses tools that it was given, and names them",
    "ServerSession.create_message, validate_sampling_tools":
      "MUST NOT get tools through a client without the capability, and nothing is sent",
    "ServerSession.create_message, validate_tool_use_result_messages":
      "MUST NOT be asked to continue ${what}, and nothing is sent"
  },
  "server/test/legacy/Questions.test.ts": {
    "ServerSession.list_roots": "are listed by a client that has some",
    "ServerSession.elicit_form": "is filled in by a person, and comes back decoded, with defaults for missing fields",
    "ServerSession.elicit_url": "is opened by a person, or not",
    "ServerSession._build_elicit_url_request": "is opened by a person, or not",
    "ServerSession.send_elicit_complete":
      "that is finished is reported outside of requests, also afterwards, to clients that open pages",
    "ServerSession.send_ping": "is answered by a client of any capabilities"
  },
  "server/test/legacy/Questions.failing.test.ts": {
    "ServerSession.send_request, timeout":
      "SHOULD end after a timeout: it is cancelled at the client, and the call fails",
    "ServerSession.send_request, error": "fails with the error that the client answers",
    "ServerSession.send_request, no channel": "cannot be sent after the call was answered",
    "ServerSession, StatelessModeNotSupported": "MUST NOT be sent to a client without the capability",
    "ServerSession.send_request, trace context": "carries the trace context of the span in which the handler asks"
  },
  "server/test/legacy/Questions.tasks.test.ts": {
    "ServerSession.experimental":
      "is sent with how long the client should keep it, and gives the answer: SHOULD be read at the client's pace",
    "ServerSession.experimental, elicit_as_task": "asks a person as well, and decodes what they have answered",
    "ServerSession.experimental, poll_task": "shows its status until it has ended",
    "ServerSession.experimental, get_task_result": "fails with the error of the client",
    "ServerSession.experimental, require_client_supports":
      "SHOULD NOT be sent to a client of ${version} that does not declare ${missing}",
    "ServerSession._build_create_message_request":
      "is sent with how long the client should keep it, and gives the answer: SHOULD be read at the client's pace",
    "ServerSession._build_elicit_form_request":
      "MUST be marked with the task that the handler serves, and is no question of that task"
  },
  "server/test/legacy/TaskWire.test.ts": {
    "ServerSession.send_message": "SHOULD ask its questions on `tasks/result`, with the task that they belong to",
    "BaseSession.add_response_router": "fails a question that the client answers with an error, or cannot be asked"
  },
  "server/test/ClientLogger.test.ts": {
    "ServerSession.send_log_message": "is sent to the client of its request, in order and before the result",
    "ServerSession.send_log_message, level": "is sent from the level on that the client asked for"
  },
  "server/test/legacy/Subscriptions.test.ts": {
    "ServerSession.send_resource_updated": "can be subscribed to, and its updates are sent"
  },
  "node/test/stdio/Pipe.encoding.test.ts": {
    "StdioServerParameters.encoding": "reads and writes ${encoding}"
  },
  "server/test/McpServer.changes.test.ts": {
    "ServerSession.send_tool_list_changed, send_resource_list_changed, send_prompt_list_changed":
      "SHOULD notify clients of ${what} that are added, and that are removed"
  },
  "node/test/interop/OfficialOffers.test.ts": {
    "ClientSessionParameters": "reconnect in a group with a new process when the server is killed"
  },
  "node/test/StdioClient.test.ts": {
    "StdioServerParameters": "sends requests and receives results",
    "StdioServerParameters.args, env, cwd":
      "passes the listed variables and the given ones to the server, and no others",
    "stdio_client, errlog": "passes stderr on byte by byte: ${mode}",
    "stdio_client, stdout_reader": "reads no faster than the messages are taken",
    "stdio_client, stdout_reader, bad line": "survives lines that are no messages and bytes that are no UTF-8"
  },
  "jsonrpc/test/LineFraming.test.ts": {
    "StdioServerParameters.encoding_error_handler":
      "replaces bytes that are not UTF-8, leaves them out, or refuses their line; the next line is read either way"
  },
  "node/test/subprocess/Environment.test.ts": {
    "get_default_environment": "inherits only the listed variables",
    "get_default_environment, Windows": "has another list for Windows",
    "get_default_environment, functions": "does not inherit shell functions"
  },
  "node/test/Faults.matrix.test.ts": {
    "stdio_client, OSError": "${what} fails the connection with the reason",
    "stdio_client, stdout_reader, failure": "A server ${what} ${stages[stage]} ${row.it}"
  },
  "node/test/subprocess/Launch.test.ts": {
    "StdioServerParameters.command": "explains what to do when the program does not exist",
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
