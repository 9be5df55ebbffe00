// The sandbox as a process of its own: `node dist/sandbox/main.js [port]`. It prints its addresses as one line of JSON.
import { startSandbox } from './server.ts'

const port = Number(process.argv[2] ?? 0)
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`The port is ${JSON.stringify(process.argv[2])}: expected a number from 0 to 65535.`)
  process.exit(2)
}
const sandbox = await startSandbox({ port, misbehaves: process.env.SANDBOX_MISBEHAVES !== 'false' })
console.log(JSON.stringify({ url: sandbox.url, address: sandbox.address, smtpUrl: sandbox.smtpUrl }))

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    sandbox.stop().then(() => process.exit(0))
  })
}
