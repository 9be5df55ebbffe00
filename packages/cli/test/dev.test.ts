import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { fixture, get, Program } from './support/program.ts'
import { isAlive, StateHome } from './support/state-home.ts'

const HEALTH = /Health +(http:\S+)\/readyz/

describe('dev with an embedded database', () => {
  let home: StateHome

  beforeAll(async () => {
    home = await StateHome.create()
  })

  afterAll(async () => {
    await home[Symbol.asyncDispose]()
  })

  test('runs a workload, says what runs, and after SIGINT leaves nothing running', async () => {
    await using dev = new Program(['dev', fixture('nap.js'), '--port', '0'], home.env)
    const [, url] = await dev.said(HEALTH)
    const block = await dev.said(/Millrace is running[\s\S]*Ctrl-C to stop/)
    expect(block[0]).toMatch(/Workload +naps\n/)
    expect(block[0]).toMatch(new RegExp(`Database +embedded Postgres \\S+ on port \\d+, data in ${home.path}/`))
    expect(block[0]).toMatch(/Schema +\d{4}_\w+\n {2}Keys .*\n {2}Worker +[0-9a-f-]{36}\n {2}Lanes +beds \(3 slots\)\n/)
    await expect
      .poll(() => get(`${url}/readyz`))
      .toMatchObject({
        status: 200,
        body: { status: 'ready', health: { verdict: expect.stringMatching(/^(ok|degraded)$/) } },
      })
    expect(await get(`${url}/healthz`)).toMatchObject({ status: 200, body: { status: 'alive' } })
    expect(await get(`${url}/`)).toMatchObject({
      status: 200,
      body: { workload: 'naps', lanes: [{ name: 'beds', slots: 3, queues: ['beds'] }] },
    })
    expect(await get(`${url}/elsewhere`)).toMatchObject({ status: 404 })
    const [server] = await home.servers()
    expect(server).toBeGreaterThan(0)
    dev.signal('SIGINT')
    expect(await dev.ended()).toMatchObject({ code: 0, err: expect.stringContaining('the workload has stopped') })
    expect(isAlive(server as number)).toBe(false)
  })

  test('stops the database again when the start fails later on', async () => {
    await using dev = new Program(['dev', fixture('bad-setup.js'), '--port', '0'], home.env)
    expect(await dev.ended()).toMatchObject({ code: 1, err: expect.stringContaining('the tables cannot be made') })
    expect(await home.servers()).toEqual([])
  })
})

describe('dev on the database that DATABASE_URL names', () => {
  test('migrates it, and without a module runs nothing else', async () => {
    await using database = await freshDatabase({ migrated: false })
    await using dev = new Program(['dev'], { DATABASE_URL: database.url, PORT: '0' })
    const [, url] = await dev.said(HEALTH)
    expect((await dev.said(/Database +(.*)/))[1]).toBe(withoutPassword(database.url))
    expect(await get(`${url}/readyz`)).toMatchObject({ status: 200 })
    dev.signal('SIGTERM')
    expect(await dev.ended()).toMatchObject({ code: 0 })
  })

  test('says on /readyz why it is not ready while the database is away', async () => {
    await using database = await freshDatabase()
    await using dev = new Program(['dev', fixture('nap.js')], { DATABASE_URL: database.url, PORT: '0' })
    const [, url] = await dev.said(HEALTH)
    await database.drop()
    expect(await get(`${url}/readyz`)).toMatchObject({
      status: 503,
      body: { status: 'not ready', reason: expect.stringMatching(/\w/) },
    })
    expect(await get(`${url}/healthz`)).toMatchObject({ status: 200 })
  })

  test('ends in order when the signal comes while it starts', async () => {
    await using database = await freshDatabase()
    await using dev = new Program(['dev', fixture('slow-setup.js')], { DATABASE_URL: database.url, PORT: '0' })
    await dev.said(/in setup/)
    dev.signal('SIGINT')
    await dev.said(/"msg":"stopping/)
    dev.signal('SIGUSR2')
    const { code, out } = await dev.ended()
    expect(code).toBe(0)
    expect(out).not.toContain('Millrace is running')
  })
})

test('dev says which port is taken before it starts anything', async () => {
  await using home = await StateHome.create()
  const squatter = createServer().listen(0, '127.0.0.1')
  await once(squatter, 'listening')
  const { port } = squatter.address() as AddressInfo
  await using dev = new Program(['dev'], { ...home.env, PORT: String(port) })
  expect(await dev.ended()).toMatchObject({
    code: 1,
    out: '',
    err: `error: Port ${port} of 127.0.0.1 is taken by another program. Stop that program, or set PORT (or --port) to a free port.\n`,
  })
  expect(await home.servers()).toEqual([])
  squatter.close()
})

test.each([
  ['no-such-file.js', /^error: There is no module no-such-file\.js: neither the file .* Build the workload/],
  [fixture(''), /^error: \S+ is a directory\. Expected a module: name the file in it/],
  [fixture('throws.js'), /^error: \S+ could not be loaded: thrown while it was loaded\. .*\n\nError: thrown.*\n +at/],
  [fixture('no-workload.js'), /^error: \S+ exports only jobs, so there is no workload in it\. Expected an ES module/],
  [
    fixture('misshapen.js'),
    /does not export a workload: `jobs\[0\]` is not a contract made by defineJob; `handlers` is a string, not an array; `workflows\[0\]` is not a workflow made by defineWorkflow; `metrics\[0\]` is not a metric made by defineCounter, defineGauge or defineHistogram; `start` is a number, not a function\. Expected/,
  ],
])('dev refuses %s and says why', async (module, message) => {
  await using dev = new Program(['dev', module])
  const { code, out, err } = await dev.ended()
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(message)
})

test.each([
  ['--port 99999', /error: option '--port <port>' .*Expected a port from 0 to 65535/],
  ['--grace soon', /error: option '--grace <duration>' .*Expected a number with ms, s, m, h or d/],
  ['--concurrency mail', /error: option '--concurrency <queue=slots>' .*Expected queue=slots/],
])('dev refuses %s', async (options, message) => {
  await using dev = new Program(['dev', ...options.split(' ')])
  expect(await dev.ended()).toMatchObject({ code: 1, err: expect.stringMatching(message) })
})

function withoutPassword(url: string): string {
  const { protocol, username, host, pathname } = new URL(url)
  return `${protocol}//${username}@${host}${pathname}`
}
