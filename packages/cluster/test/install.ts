/**
 * Before the tests of this package: provides nginx, which one of their files needs.
 */
import * as Engine from "../../node/test/Engine.js"
import { engine } from "./Nginx.js"

export default (): () => void => {
  if (Engine.isSkipped(engine)) return () => Engine.tell(engine)
  Engine.install(engine)
  return () => {}
}
