// The web process, `millrace admin dist/src/web.js`: it enqueues, and loads no handler.
import { lipas } from './lipas.ts'

export default lipas()
