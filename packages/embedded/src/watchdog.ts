/**
 * A process of its own, started beside each throw-away server: `node watchdog.js <directory>`.
 * Waits until its stdin closes, which is when its parent ends or has no more need of it, then removes the directory
 * and the server in it if the parent left them behind. If it dies itself, the next sweep does that.
 */
import { existsSync } from 'node:fs'
import { poll } from './poll.ts'
import { lifeOf } from './process-identity.ts'
import { ownerOf, removeIfAbandoned } from './sweep.ts'

const directory = process.argv[2] ?? ''
const owner = ownerOf(directory)

process.stdin.resume()
process.stdin.once('close', async () => {
  if (owner === undefined || !existsSync(directory)) return
  // The kernel closes a dying process's files shortly before the process is gone.
  const expired = () => new Error(`${owner} closed the pipe but lives on`)
  await poll(() => (lifeOf(owner) === 'gone' ? true : undefined), { withinMs: 30_000, expired })
  await removeIfAbandoned(directory)
})
