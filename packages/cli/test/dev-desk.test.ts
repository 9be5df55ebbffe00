// What `dev` gives a developer beside the worker: an address, keys, things to try, and a log that can be read.
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture, get, Program, ran } from './support/program.ts'
import { StateHome } from './support/state-home.ts'

let home: StateHome
let dev: Program
let banner: string

beforeAll(async () => {
  home = await StateHome.create()
  dev = new Program(['dev', fixture('desk.js'), '--port', '0'], home.env, { isShared: true })
  banner = (await dev.said(/Millrace is running[\s\S]*Ctrl-C to stop/))[0]
})

afterAll(async () => {
  await dev[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const url = () => /DATABASE_URL +(\S+)\n/.exec(banner)?.[1] as string
const enqueue = (type: string, payload: object, ...options: string[]) =>
  ran(['enqueue', type, JSON.stringify(payload), '--module', fixture('desk.js'), ...options], home.env)

test('dev prints the DATABASE_URL of its database, which the health endpoints do not tell', async () => {
  const client = new pg.Client(url())
  await client.connect()
  expect((await client.query('select count(*) from millrace.job')).rowCount).toBe(1)
  await client.end()
  const [, health] = (await dev.said(/Health +(http:\S+)\/readyz/)) as unknown as [string, string]
  const { body } = await get(`${health}/`)
  expect(JSON.stringify(body)).not.toContain(new URL(url()).password)
})

test('every command that dev says to try next works as it is printed', { timeout: 60_000 }, async () => {
  const block = /Try next, in another terminal in this folder:\n\n((?: {2}.+\n)+)/.exec(banner)?.[1] ?? ''
  const commands = block.trim().split(/\n\s*/)
  expect(commands.map((command) => command.split(' ').slice(0, 3).join(' '))).toEqual([
    'npx millrace enqueue',
    'npx millrace jobs',
    'npx millrace dead',
    expect.stringMatching(/^curl http/),
  ])
  const { DATABASE_URL: _, PORT: __, ...env } = process.env
  const outputs: string[] = []
  for (const command of commands) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...env, ...home.env } })
    outputs.push(stdout)
  }
  expect(outputs[0]).toContain("Hello, O'Hara!")
  expect(outputs[1]).toMatch(/greet/)
  expect(outputs[3]).toContain('"ready"')
})

test('dev makes keys for development beside its cluster, which the other commands use too', async () => {
  const file = /Keys +for development, in (\S+)\n/.exec(banner)?.[1] as string
  expect(file).toContain(home.path)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await enqueue('whisper', { name: 'Ada' }, '--wait')).toMatchObject({
    code: 0,
    out: expect.stringContaining('"length": 3'),
  })
  const { out } = await ran(['encryption-keys', 'status'], home.env)
  expect(out).toMatch(/^development +encrypts/m)
})

test('an isolated handler finds the database of dev in DATABASE_URL', async () => {
  const { out } = await enqueue('apart', {}, '--wait')
  expect(JSON.parse(out)).toEqual({ port: new URL(url()).port })
})

test('dev tells a kind of failure once, and sums up what became of the rest', async () => {
  for (const stone of [1, 2, 3]) {
    const { err } = await enqueue('stumble', { stone }, '--wait', '--timeout', '1ms')
    const [, id] = /Job (\d+) is enqueued/.exec(err) as unknown as [string, string]
    const client = new pg.Client(url())
    await client.connect()
    for (;;) {
      const { rows } = await client.query('select status from millrace.jobs where id = $1', [id])
      if (rows[0]?.status === 'failed') break
    }
    await client.end()
  }
  dev.signal('SIGINT')
  await dev.ended()
  const warnings = dev.lines.filter(({ level }) => level === 40)
  expect(warnings).toMatchObject([{ type: 'stumble', error: 'there was stone 1' }])
  expect(dev.lines.map(({ msg }) => msg).join('\n')).toMatch(/in the last \d+ s: \d+ jobs? completed/)
  expect(sum(/(\d+) attempts? failed and will be repeated/)).toBe(3)
})

/** Of the figure in all lines: ten seconds may end between two jobs. */
function sum(pattern: RegExp): number {
  return dev.lines.reduce((total, { msg }) => total + Number(pattern.exec(msg)?.[1] ?? 0), 0)
}
