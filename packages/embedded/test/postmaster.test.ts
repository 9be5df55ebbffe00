import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { startThrowAway, type ThrowAwayPostgres } from '@millrace/embedded'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poll } from '#src/poll'
import { clearRecycledPidFile, findPostmaster, isPostmaster } from '#src/postmaster'
import { asUser, chooseServerUser } from '#src/server-user'
import { sql } from './sql.ts'

let server: ThrowAwayPostgres
let pidFile: string

beforeAll(async () => {
  server = await startThrowAway()
  pidFile = join(server.dataDirectory, 'postmaster.pid')
})

afterAll(async () => {
  await server.stop()
})

/** A process of the user who runs Postgres: Postgres overlooks those of other users by itself. */
async function innocentProcess() {
  const child = spawn('sleep', ['60'], { ...asUser(await chooseServerUser(process.env)), cwd: server.dataDirectory })
  await once(child, 'spawn')
  return { pid: child.pid as number, [Symbol.dispose]: () => child.kill() }
}

/** Frozen, backends cannot notice that their postmaster is gone. */
function freeze(pids: number[]) {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  const kill = () => {
    for (const pid of pids.splice(0)) process.kill(pid, 'SIGKILL')
  }
  return { kill, [Symbol.dispose]: kill }
}

async function writePidFile(content: string): Promise<void> {
  await writeFile(pidFile, content, { mode: 0o600 })
  const { uid, gid } = await stat(server.dataDirectory)
  await chown(pidFile, uid, gid)
}

describe('the pid file of a living server', () => {
  it('leads to it', async () => {
    expect(await findPostmaster(server.dataDirectory)).toEqual({ pid: server.pid, port: server.port, isReady: true })
  })

  it('is never removed', async () => {
    await clearRecycledPidFile(server.dataDirectory)
    expect(existsSync(pidFile)).toBe(true)
  })

  it('is not removed even if it names somebody else or nobody', async () => {
    using innocent = await innocentProcess()
    const original = await readFile(pidFile, 'utf8')
    for (const damaged of [original.replace(/^\d+/, `${innocent.pid}`), '']) {
      await writeFile(pidFile, damaged)
      await clearRecycledPidFile(server.dataDirectory)
      expect(await readFile(pidFile, 'utf8')).toBe(damaged)
    }
    await writeFile(pidFile, original)
  })

  it('does not make its backends, or a server elsewhere, a postmaster of this directory', async () => {
    const [backend] = (await sql(
      server.url,
      'select pid from pg_stat_activity where backend_type = $$checkpointer$$',
    )) as [number]
    expect(isPostmaster(server.pid, server.dataDirectory)).toBe(true)
    expect(isPostmaster(backend, server.dataDirectory)).toBe(false)
    expect(isPostmaster(server.pid, dirname(server.dataDirectory))).toBe(false)
    expect(isPostmaster(process.pid, server.dataDirectory)).toBe(false)
  })
})

describe('a start after a crash that left a pid file', () => {
  let leftBehind: string

  beforeAll(async () => {
    leftBehind = await readFile(pidFile, 'utf8')
    await server.crash()
  })

  it('succeeds if that pid is dead', async () => {
    await writePidFile(leftBehind)
    await server.restart()
    expect(await sql(server.url, 'select 1')).toEqual([1])
    await server.crash()
  })

  it('succeeds if that pid now belongs to another process', async () => {
    using innocent = await innocentProcess()
    await writePidFile(leftBehind.replace(/^\d+/, `${innocent.pid}`))
    expect(await findPostmaster(server.dataDirectory)).toBeUndefined()
    await server.restart()
    expect(await sql(server.url, 'select 1')).toEqual([1])
    await server.crash()
  })

  it('succeeds if the file is empty', async () => {
    await writePidFile('')
    await server.restart()
    expect(await sql(server.url, 'select 1')).toEqual([1])
  })

  it.runIf(process.platform === 'linux')(
    'leaves the file while backends of the old server still use its memory',
    async () => {
      using innocent = await innocentProcess()
      const original = await readFile(pidFile, 'utf8')
      const backends = (await sql(
        server.url,
        'select pid from pg_stat_activity where pid <> pg_backend_pid()',
      )) as number[]
      using frozen = freeze(backends)
      process.kill(server.pid, 'SIGKILL')
      await poll(() => (isPostmaster(server.pid, server.dataDirectory) ? undefined : true), {
        withinMs: 10_000,
        expired: () => new Error('the postmaster still runs'),
      })
      await writeFile(pidFile, original.replace(/^\d+/, `${innocent.pid}`))
      await clearRecycledPidFile(server.dataDirectory)
      expect(existsSync(pidFile)).toBe(true)
      frozen.kill()
      await rm(pidFile)
      await server.restart()
    },
  )
})

it('waits for its port if somebody has it for a moment', async () => {
  await server.crash()
  const squatter = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => squatter.listen(server.port, '127.0.0.1', resolve))
  const restarting = server.restart()
  const log = join(dirname(server.dataDirectory), 'postgres.log')
  await poll(async () => ((await readFile(log, 'utf8')).includes('could not bind') ? true : undefined), {
    withinMs: 10_000,
    expired: () => new Error('it never tried'),
  })
  await new Promise((resolve) => squatter.close(resolve))
  await restarting
  expect(await sql(server.url, 'select 1')).toEqual([1])
})
