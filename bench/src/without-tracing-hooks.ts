// Puts a module in the place of the engine's tracing.js that does nothing, so that what the API costs can be measured.
import type { LoadHook } from 'node:module'

const NOTHING = `
const none = () => null
const missing = () => undefined
export { missing as tracer, missing as spanContextOf, none as activeTraceParent, none as traceIdOf, none as traceParentOf }
export const contextBelow = () => { throw new Error('Nothing is traced here.') }
`

export const load: LoadHook = async (url, context, nextLoad) =>
  url.endsWith('/engine/dist/tracing.js')
    ? { format: 'module', source: NOTHING, shortCircuit: true }
    : nextLoad(url, context)
