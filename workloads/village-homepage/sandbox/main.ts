// The sandbox as a process of its own: `node dist/sandbox/main.js [port]`.
import { runAsProcess } from '@millrace/sandbox'
import { startSandbox } from './server.ts'

await runAsProcess(async (options) => {
  const sandbox = await startSandbox(options)
  const { url, address, smtpUrl, imapUrl } = sandbox
  return { addresses: { url, address, smtpUrl, imapUrl }, stop: () => sandbox.stop() }
})
