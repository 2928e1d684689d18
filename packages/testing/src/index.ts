/**
 * Mock transports, scripted peers and laws for testing MCP servers and clients.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * The oracle: each revision's official message schema, asked whether a message may be said. Everything that crosses a test
 * transport is put to it, from both sides.
 *
 * It knows the specification's own file and nothing of our vocabulary, which is what makes its word worth something.
 *
 * @since 0.1.0
 */
export * as OfficialSchema from "./OfficialSchema.js"

/**
 * A client under test, and the server it talks to, played by the test. `TestServer` is the other way round: a server under
 * test, and a real client.
 *
 * @since 0.1.0
 */
export * as TestClient from "./TestClient.js"

/**
 * The other side, played by the test: it says what it is told to and takes what it hears in the order in which it hears it.
 * A script must be finished: what was heard and not expected fails the test when the scope closes.
 *
 * It says anything, right or wrong; what the side under test makes of it is the point.
 *
 * @since 0.1.0
 */
export * as TestPeer from "./TestPeer.js"

/**
 * A server and a client in one room: what a test needs to call a server through everything but the network. The wire is in
 * memory, and what crosses it is put to the official schema.
 *
 * @since 0.1.0
 */
export * as TestServer from "./TestServer.js"

/**
 * A pair of transports in memory that writes everything down and puts it to the oracle: what a client and a server say to
 * each other must be what the specification allows, in the revision they agreed on.
 *
 * A message that it does not allow ends the test: the scope's closing dies with every violation there was.
 *
 * @since 0.1.0
 */
export * as TestTransport from "./TestTransport.js"

/**
 * A conversation as text: what was said, by whom, in order. To be read, and to be compared. It writes down what it is
 * given; `TestTransport` gives it everything that crosses a wire.
 *
 * @since 0.1.0
 */
export * as Transcript from "./Transcript.js"

/**
 * What every transport must satisfy, as laws that any test runner can run: give it a way to make a pair, and it says which
 * law was broken and how. Who writes a transport runs them; ours do.
 *
 * @since 0.1.0
 */
export * as TransportLaws from "./TransportLaws.js"
