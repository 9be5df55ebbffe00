// Keeps one Redis for a parent, and ends it with the parent, whatever that one died of. Argument: the program.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-redis-'))
const port = await freePort()
// The persistence that BullMQ asks for, and nothing else that differs from a fresh Redis.
const settings = {
  port,
  bind: '127.0.0.1',
  dir: directory,
  appendonly: 'yes',
  appendfsync: 'everysec',
  save: '',
  'maxmemory-policy': 'noeviction',
}
const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
const redis = spawn(process.argv[2] ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] })

let output = ''
for (const stream of [redis.stdout, redis.stderr]) {
  stream.on('data', (chunk) => {
    output = (output + chunk).slice(-4_000)
    if (output.includes('Ready to accept connections')) process.send?.({ url: `redis://127.0.0.1:${port}` })
  })
}
redis.once('error', (error) => leave(error.message))
redis.once('close', (code) => leave(`redis-server ended with code ${code}: ${output.trim()}`))
process.once('disconnect', () => {
  if (!redis.kill('SIGKILL')) leave('')
})
process.on('SIGINT', () => {})

function leave(error: string): void {
  rmSync(directory, { recursive: true, force: true })
  if (process.connected) process.send?.({ error }, () => process.exit(1))
  else process.exit()
}

async function freePort(): Promise<number> {
  const server = createServer()
  return await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
