import { existsSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startThrowAway } from '@millrace/embedded'
import { describe, expect, it } from 'vitest'
import { poll } from '#src/poll'
import { isRunning, ownToken, ps } from '#src/process-identity'
import { stopServer } from '#src/shutdown'
import { removeAbandoned } from '#src/sweep'
import { OtherProcess } from './other-process.ts'
import { scratchDirectory } from './scratch.ts'

interface Server {
  readonly pid: number
  readonly dataDirectory: string
}

const startAndWait = `
const server = await embedded.startThrowAway()
say({ pid: server.pid, dataDirectory: server.dataDirectory })
await told()
`

async function gone(server: Server): Promise<void> {
  const isThere = () => isRunning(server.pid) || existsSync(dirname(server.dataDirectory))
  const expired = () => new Error(`${server.dataDirectory} is still there`)
  await poll(() => (isThere() ? undefined : true), { withinMs: 20_000, expired })
}

describe.concurrent('a throw-away server whose owner', () => {
  it('was killed is removed by its watchdog', async () => {
    await using owner = new OtherProcess(startAndWait)
    const server = await owner.said<Server>()
    await owner.kill()
    await gone(server)
  })

  it('just ended is removed by its watchdog, and keeps no process alive', async () => {
    await using owner = new OtherProcess(startAndWait)
    const server = await owner.said<Server>()
    owner.tell()
    expect(await owner.ended()).toBe(0)
    await gone(server)
  })
})

describe('a sweep', () => {
  it('removes what a killed owner and watchdog left, and nothing that is in use', async () => {
    await using scratch = await scratchDirectory()
    const env = { ...process.env, TMPDIR: scratch.path }
    await using live = await startThrowAway({ env })
    await using owner = new OtherProcess(startAndWait, { env })
    const dead = await owner.said<Server>()
    killWatchdog(owner.pid)
    await owner.kill()
    expect(isRunning(dead.pid)).toBe(true)

    await removeAbandoned(scratch.path)
    expect(isRunning(dead.pid)).toBe(false)
    expect(existsSync(dirname(dead.dataDirectory))).toBe(false)
    expect(isRunning(live.pid)).toBe(true)
    expect(existsSync(live.dataDirectory)).toBe(true)
  })

  it('does not mistake a later process with the same pid for the owner', async () => {
    await using scratch = await scratchDirectory()
    const [pid, birth] = ownToken().split('.') as [string, string]
    const earlier = birth.replace(/\d+$/, '1')
    const abandoned = await mkdtemp(join(scratch.path, `millrace-throwaway-${pid}.${earlier}-`))
    const ours = await mkdtemp(join(scratch.path, `millrace-throwaway-${pid}.${birth}-`))
    await removeAbandoned(scratch.path)
    expect(existsSync(abandoned)).toBe(false)
    expect(existsSync(ours)).toBe(true)
  })

  it.runIf(process.platform === 'linux')('leaves alone what another container may use, and foreign names', async () => {
    await using scratch = await scratchDirectory()
    const [boot] = (ownToken().split('.')[1] as string).split('-')
    const elsewhere = await mkdtemp(join(scratch.path, `millrace-throwaway-1.${boot}-1-1-`))
    const foreign = join(scratch.path, 'millrace-throwaway-notes')
    await mkdir(foreign)
    await removeAbandoned(scratch.path)
    expect([existsSync(elsewhere), existsSync(foreign)]).toEqual([true, true])
  })
})

/** The child of `owner` that runs watchdog.js. */
function killWatchdog(owner: number): void {
  const rows = ps('all', ['pid', 'ppid', 'command']).split('\n')
  const row = rows.find((each) => new RegExp(`^\\s*\\d+\\s+${owner}\\s.*watchdog\\.js`).test(each))
  process.kill(Number.parseInt(row ?? '', 10), 'SIGKILL')
}

it('stopping where nothing runs does nothing', async () => {
  await using scratch = await scratchDirectory()
  await stopServer(scratch.path, 'fast')
})
