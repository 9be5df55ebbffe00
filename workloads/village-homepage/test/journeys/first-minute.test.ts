// `npm start` on an empty database: every job type has completed within two minutes, and nothing has left this machine.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testDatabases } from '@millrace/embedded'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type StartedScript, startScript } from '../../../../test/support/start-script.ts'

const TYPES = [
  ...['RSS_FEED_REFRESH', 'WEATHER_REFRESH', 'LISTING_EXPIRATION', 'RANK_RECALCULATION', 'INBOUND_EMAIL'],
  ...['STOCK_REFRESH', 'MESSAGE_RELAY', 'SOCIAL_REFRESH', 'LINK_HEALTH_CHECK', 'SITEMAP_GENERATION', 'CLICK_ROLLUP'],
  ...['AI_TAGGING', 'IMAGE_PROCESSING', 'SCREENSHOT_CAPTURE'],
]
const KEY = `test:${Buffer.alloc(32, 7).toString('base64')}`
const MOST_MS = 120_000

const databases = testDatabases(inject('databaseServer'))
const folder = mkdtempSync(join(tmpdir(), 'village-outgoing-'))
const log = join(folder, 'outgoing.log')
let started: StartedScript
let pool: pg.Pool

beforeAll(async () => {
  writeFileSync(log, '')
  const { url } = await databases.fresh(await databases.template('first-minute', async () => {}))
  pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {})
  const hook = new URL('outgoing.js', import.meta.url).href
  started = await startScript('start', {
    databaseUrl: url,
    env: { NODE_OPTIONS: `--import=${hook}`, OUTGOING_LOG: log, MILLRACE_ENCRYPTION_KEYS: KEY },
  })
}, 60_000)

afterAll(async () => {
  await started?.stop()
  await pool?.end()
  await databases.close()
  rmSync(folder, { recursive: true })
})

const FIRST = `
select type, extract(epoch from min(finished_at) - (select min(started_at) from millrace.jobs))::float8 as seconds
from millrace.jobs
where status = 'completed'
  and type = any($1)
group by type
order by seconds`

test('each job type has completed within two minutes of the start', { timeout: MOST_MS + 10_000 }, async () => {
  const completed = async () => (await pool.query<{ type: string; seconds: number }>(FIRST, [TYPES])).rows
  await expect
    .poll(async () => (await completed()).map(({ type }) => type).sort(), { timeout: MOST_MS, interval: 500 })
    .toEqual([...TYPES].sort())
  console.info((await completed()).map(({ type, seconds }) => `${type} ${seconds.toFixed(1)} s`).join(', '))
})

test('meanwhile no request has left this machine', async () => {
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  const watched = lines.filter((line) => line.endsWith('is watched'))
  expect(watched).not.toEqual([])
  expect(lines.filter((line) => !watched.includes(line))).toEqual([])
})
