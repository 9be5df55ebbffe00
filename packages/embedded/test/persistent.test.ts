import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { startEmbedded } from '@millrace/embedded'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRunning } from '#src/process-identity'
import { OtherProcess } from './other-process.ts'
import { type Scratch, scratchDirectory } from './scratch.ts'
import { sql } from './sql.ts'

interface Server {
  readonly pid: number
  readonly port: number
  readonly url: string
}

let scratch: Scratch
let directory: string

beforeAll(async () => {
  scratch = await scratchDirectory()
  directory = join(scratch.path, 'cluster')
})

afterAll(async () => {
  await scratch[Symbol.asyncDispose]()
})

const joinCluster = () => `
const server = await embedded.startEmbedded({ directory: ${JSON.stringify(directory)} })
say({ pid: server.pid, port: server.port, url: server.url })
await told()
await server.stop()
`

describe('a persistent cluster', () => {
  it('is created once, by whichever of several processes comes first; the last one to leave stops it', async () => {
    await using first = new OtherProcess(joinCluster())
    await using second = new OtherProcess(joinCluster())
    const ours = await startEmbedded({ directory })
    const [a, b] = [await first.said<Server>(), await second.said<Server>()]
    expect([a.pid, b.pid]).toEqual([ours.pid, ours.pid])
    expect([a.url, b.url]).toEqual([ours.url, ours.url])
    await ours.stop()
    first.tell()
    expect(await first.ended()).toBe(0)
    expect(await sql(ours.url, 'select 1')).toEqual([1])
    second.tell()
    expect(await second.ended()).toBe(0)
    expect(isRunning(ours.pid)).toBe(false)
  })

  it('keeps its data, its password and, if it can, its port', async () => {
    const first = await startEmbedded({ directory })
    await sql(first.url, 'create table kept as select 42 as answer')
    await first.stop()
    await first.stop()
    await using again = await startEmbedded({ directory })
    expect(again.url).toBe(first.url)
    expect(again.pid).not.toBe(first.pid)
    expect(await sql(again.url, 'select answer from kept')).toEqual([42])
  })

  it('counts two uses in one process separately', async () => {
    const [one, two] = await Promise.all([startEmbedded({ directory }), startEmbedded({ directory })])
    expect(one.pid).toBe(two.pid)
    await one.stop()
    expect(await sql(two.url, 'select 1')).toEqual([1])
    await two.stop()
    expect(isRunning(one.pid)).toBe(false)
  })

  it('keeps its password from other users', async () => {
    expect((await stat(join(directory, 'password'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(directory, 'data'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(directory, 'postgres.log'))).mode & 0o777).toBe(0o600)
  })

  it('takes another port if somebody has the old one', async () => {
    const oldPort = Number(await readFile(join(directory, 'port'), 'utf8'))
    const squatter = createServer()
    await new Promise<void>((resolve) => squatter.listen(oldPort, '127.0.0.1', resolve))
    await using server = await startEmbedded({ directory })
    expect(server.port).not.toBe(oldPort)
    expect(await sql(server.url, 'select answer from kept')).toEqual([42])
    await new Promise((resolve) => squatter.close(resolve))
  })

  it('tells what it does', async () => {
    const heard: string[] = []
    await using server = await startEmbedded({ directory, onLog: (message) => heard.push(message) })
    expect(heard).toEqual([`Preparing Postgres in ${directory}`, expect.stringContaining(`on port ${server.port}`)])
  })
})

describe('a server of a persistent cluster', () => {
  it('outlives a killed process, is joined by the next one and stopped by it', async () => {
    await using killed = new OtherProcess(joinCluster())
    const { pid } = await killed.said<Server>()
    await killed.kill()
    expect(isRunning(pid)).toBe(true)
    const next = await startEmbedded({ directory })
    expect(next.pid).toBe(pid)
    await next.stop()
    expect(isRunning(pid)).toBe(false)
    expect(await readdir(join(directory, 'users'))).toEqual([])
  })

  it('outlives Ctrl-C in the terminal of the process that started it', async () => {
    await using other = new OtherProcess(joinCluster(), { detached: true })
    const { pid } = await other.said<Server>()
    process.kill(-other.pid, 'SIGINT')
    await other.ended()
    expect(isRunning(pid)).toBe(true)
    await using next = await startEmbedded({ directory })
    expect(next.pid).toBe(pid)
  })

  it('is started again if it was killed while in use', async () => {
    await using first = await startEmbedded({ directory })
    process.kill(first.pid, 'SIGKILL')
    await using second = await startEmbedded({ directory })
    expect(second.pid).not.toBe(first.pid)
    expect(second.url).toBe(first.url)
    expect(await sql(first.url, 'select answer from kept')).toEqual([42])
  })

  it('is not left running when the start fails later on', async () => {
    await using _ = { [Symbol.asyncDispose]: () => writeFile(join(directory, 'password'), password) }
    const password = await readFile(join(directory, 'password'), 'utf8')
    await writeFile(join(directory, 'password'), 'forgotten')
    const failure = startEmbedded({ directory })
    await expect(failure).rejects.toMatchObject({ code: 'start_failed' })
    await expect(failure).rejects.toThrow('refuses the password')
    expect(existsSync(join(directory, 'data', 'postmaster.pid'))).toBe(false)
  })
})

it('says so if the data belongs to another version of Postgres', async () => {
  const versionFile = join(directory, 'data', 'PG_VERSION')
  const version = await readFile(versionFile, 'utf8')
  await writeFile(versionFile, '9\n')
  await expect(startEmbedded({ directory })).rejects.toMatchObject({ code: 'version_mismatch' })
  await writeFile(versionFile, version)
})

it('refuses a name that could leave its directory', async () => {
  await expect(startEmbedded({ name: '../elsewhere' })).rejects.toMatchObject({ code: 'bad_name' })
})
