import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { testDatabases } from '@millrace/embedded'
import pg from 'pg'
import { expect, inject, test, vi } from 'vitest'
import { contestants, OURS, RAW } from '#src/peers/contestants'
import { documentOf, type Measured, ratiosOf } from '#src/peers/document'
import { DriverProcess } from '#src/peers/driver-process'
import { Entrant, kinds } from '#src/peers/entrant'
import { whoTakesPart } from '#src/peers/field'
import { figuresTable } from '#src/peers/figures-table'
import { arePeersInstalled } from '#src/peers/install'
import { plotOf } from '#src/peers/plot'
import { withFigures } from '#src/peers/plot-command'
import { bench as runBench } from './run-bench.ts'

vi.setConfig({ testTimeout: 180_000 })

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const contentOf = (path: string): string => readFileSync(pathOf(path), 'utf8')
const program = pathOf('../dist/main.js')
const figures = {
  drain: expect.any(Number),
  bulk: expect.any(Number),
  single16: expect.any(Number),
  latencyP50: expect.any(Number),
  latencyP99: expect.any(Number),
}

/** Two rounds, in which everything has these values. */
function measured(role: Measured['role'], [first, second]: readonly [number, number], rest: Partial<Measured> = {}) {
  const values = { drain: [first, second], bulk: [first, second], single16: [first, second] }
  const latencies = { latencyP50: [first, second], latencyP99: [first, second] }
  return { name: role, role, store: 'postgres', values: { ...values, ...latencies }, ...rest } as Measured
}

const rivals = [
  measured('ours', [60, 90]),
  measured('oursOnInstalledNode', [1_000, 2_000]),
  measured('raw', [120, 100]),
  measured('peer', [10, 30], { name: 'slow' }),
  measured('peer', [20, 15], { name: 'steady' }),
  measured('peer', [80, 5], { name: 'elsewhere', store: 'redis' }),
]

test('the JSON has the medians of everybody, and ratios by the names that others read', () => {
  const median = (value: number) => ({
    drain: value,
    bulk: value,
    single16: value,
    latencyP50: value,
    latencyP99: value,
  })
  expect(documentOf(rivals, { node: '26', installedNode: '20', postgres: '18' })).toEqual({
    node: '26',
    postgres: '18',
    ours: median(75),
    oursOnInstalledNode: { node: '20', ...median(1_500) },
    peers: { slow: median(20), steady: median(17.5), elsewhere: median(42.5) },
    raw: { drain: 110 },
    ratios: { drain: 1.875, drainRaw: 0.7, bulk: 1.875, single16PostgresPeers: 3, single16: 1.875, latencyP50: 6 },
  })
})

test('a ratio is taken in each round, against whoever was best in that round', () => {
  const of = (name: string) => ratiosOf(rivals).find((ratio) => ratio.name === name)?.values
  expect(of('drain')).toEqual([60 / 80, 90 / 30])
  expect(of('drainRaw')).toEqual([60 / 120, 90 / 100])
  expect(of('single16PostgresPeers')).toEqual([60 / 20, 90 / 30])
  // Less is better.
  expect(of('latencyP50')).toEqual([60 / 10, 90 / 15])
})

test('without redis-server its contestants are skipped by name, and nobody else', () => {
  const { present, skipped } = whoTakesPart(false)
  expect(skipped).toEqual([
    { name: 'BullMQ on Redis', reason: 'redis-server is not on the PATH' },
    { name: 'BullMQ on Redis, defaults', reason: 'redis-server is not on the PATH' },
  ])
  expect(present.length + skipped.length).toBe(contestants.length)
  expect(whoTakesPart(true)).toEqual({ present: contestants, skipped: [] })
})

test.each([
  ['dies', /^somebody: the driver ended with code 3\nit said: out of luck$/],
  ['hangs', /^somebody: the driver did not drain within 0\.5 s$/],
  ['fails', /^somebody: the driver failed: no such table$/],
])('a driver that %s is named in the error, and ended', async (how, message) => {
  const module = pathOf('./fixtures/bad-driver.js')
  const timeoutMs = how === 'hangs' ? 500 : 60_000
  await using driver = new DriverProcess({ name: 'somebody', module, args: [how], node: process.execPath, timeoutMs })
  await expect(driver.ask('drain')).rejects.toThrow(message)
  await driver[Symbol.asyncDispose]()
  await expect(driver.ask('drain')).rejects.toThrow(/^somebody: the (run is over|driver ended)/)
})

test.each([OURS, RAW])('%s is measured in processes of its own', async (name) => {
  await using databases = testDatabases(inject('serverUrl'))
  const { url: databaseUrl } = await databases.fresh(inject('migratedTemplate'))
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  pool.on('error', () => {}) // the database is dropped while it closes
  const bench = { databaseUrl, pool, options: { jobs: 300, rounds: 1 } } as ConstructorParameters<
    typeof Entrant
  >[1]['bench']
  const contestant = contestants.find((each) => each.name === name)
  if (contestant === undefined) throw new Error(`nobody is called ${name}`)
  try {
    await using entrant = new Entrant(contestant, { bench, redisUrl: '', node: process.execPath })
    expect(await entrant.install()).toMatchObject({ node: process.versions.node })
    for (const kind of name === RAW ? (['drain'] as const) : kinds) {
      for (const value of Object.values(await entrant.measure(kind, 1))) expect(value).toBeGreaterThan(0)
    }
  } finally {
    await pool.end()
  }
})

test('the picture and the figures in the documentation are those of the JSON beside them', () => {
  const report = JSON.parse(contentOf('../../docs/benchmarks/peers.json'))
  expect(contentOf('../../docs/benchmarks/peers.svg')).toBe(plotOf(report))
  const page = contentOf('../../docs/benchmarks.md')
  expect(page).toBe(withFigures(page, figuresTable(report), 'the page'))
})

test('the picture shows every library once, and cuts off what would hide the others', () => {
  const report = JSON.parse(contentOf('../../docs/benchmarks/peers.json'))
  const picture = plotOf({ ...report, peers: { ...report.peers, 'pg-boss, defaults': { latencyP50: 1e6 } } })
  expect(picture.match(/>BullMQ on Postgres</g)).toHaveLength(4)
  expect(picture).toMatch(/class="page" x="\d+" y="\d+" width="4"/)
  expect(picture).toContain('1,000,000')
  expect(plotOf({ ...report, environment: { ...report.environment, cpu: 'A&B <1>' } })).toContain('A&amp;B &lt;1>')
})

test('a page without a place for the figures is refused', () => {
  expect(() => withFigures('# Nothing', '', 'page.md')).toThrow(/^page\.md has no place for the figures/)
})

test.each([
  ['../package.json', /^\S+ is not what "peers --json" prints: it has no ours, oursOnInstalledNode, peers.*\n$/],
  ['../README.md', /^\S+ is not JSON\. .*--silent\.\n$/],
  ['./no-such.json', /^\S+ cannot be read: ENOENT.*\n$/],
])('plot refuses %s, which peers did not print', async (file, message) => {
  const refused = { code: 1, out: '', err: expect.stringMatching(message) }
  expect(await runBench(['plot', pathOf(file)])).toEqual(refused)
})

test('the README names the version of every peer that is installed', () => {
  const { dependencies } = JSON.parse(contentOf('../peers/package.json'))
  const readme = contentOf('../README.md')
  for (const peer of ['graphile-worker', 'pg-boss', 'bullmq']) expect(readme).toContain(`${peer} ${dependencies[peer]}`)
})

// They are not installed by npm ci: `npm run bench -- peers` does that.
test.skipIf(!arePeersInstalled())('peers measures everybody and prints one JSON document', async () => {
  const { code, out, err } = await runBench(['peers', '--json', '--rounds', '1', '--jobs', '200'])
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  const report = JSON.parse(out)
  const present = contestants.filter(({ name }) => !report.skipped.some((each: { name: string }) => each.name === name))
  expect(report).toMatchObject({
    ours: figures,
    oursOnInstalledNode: { node: process.versions.node, ...figures },
    raw: { drain: expect.any(Number) },
    options: { rounds: 1, jobs: 200 },
  })
  expect(Object.keys(report.peers)).toEqual(present.filter(({ role }) => role === 'peer').map(({ name }) => name))
  for (const peer of Object.values(report.peers)) expect(peer).toEqual(figures)
  for (const ratio of Object.values(report.ratios)) expect(ratio).toBeGreaterThan(0)
  expect(err).toMatch(/warm-up .*drain .*Millrace/)
  const { optionalDependencies } = JSON.parse(contentOf('../peers/package.json'))
  expect(Object.values(optionalDependencies)).toContain(report.node)
  for (const { name, role } of present) {
    const node = role === 'oursOnInstalledNode' ? process.versions.node : report.node
    expect(report.contestants[name], name).toMatchObject({ node })
  }
})

test.skipIf(!arePeersInstalled() || process.platform !== 'linux')(
  'Ctrl-C ends everything that was started and drops the databases',
  async () => {
    const env = { ...process.env, DATABASE_URL: inject('serverUrl') }
    const child = spawn(process.execPath, [program, 'peers', '--rounds', '1', '--jobs', '200'], { env })
    const lines: string[] = []
    let started: string[] = []
    for await (const line of createInterface(child.stderr)) {
      if (line.startsWith('warm-up') && started.length === 0) {
        started = descendantsOf(String(child.pid))
        child.kill('SIGINT')
      }
      lines.push(line)
    }
    const [code] = child.exitCode === null ? await once(child, 'close') : [child.exitCode]
    expect({ code, last: lines.at(-1) }).toEqual({
      code: 130,
      last: 'SIGINT: stopped, nothing was measured to the end',
    })
    expect(started.length).toBeGreaterThan(contestants.length)
    // They end when they see that it is gone.
    await vi.waitFor(() => expect(started.filter(isRunning)).toEqual([]), 30_000)
    const pool = new pg.Pool({ connectionString: inject('serverUrl'), max: 1 })
    const { rows } = await pool.query(`select datname from pg_database where datname like '%\\_${child.pid}\\_%'`)
    await pool.end()
    expect(rows).toEqual([])
  },
)

/** A zombie, which nobody has waited for yet, is not. */
function isRunning(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function descendantsOf(pid: string): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return children.flatMap((child) => [child, ...descendantsOf(child)])
}
