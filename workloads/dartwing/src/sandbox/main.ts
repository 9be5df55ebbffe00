// The sandbox as a process of its own: `node dist/src/sandbox/main.js [port]`. It prints its addresses as one line of JSON.
import { runAsProcess } from '@millrace/sandbox'
import { startSandbox } from './server.ts'

await runAsProcess(async (options) => {
  const sandbox = await startSandbox(options)
  const { url, variables } = sandbox
  return { addresses: { url, variables }, stop: () => sandbox.stop() }
})
