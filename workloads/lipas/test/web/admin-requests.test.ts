// The five admin requests of the register's operators, by real curl, on jobs of LIPAS.
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { email } from '#src/contracts'
import { type Served, served } from '../support/served.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0
if (!hasCurl) console.warn('SKIPPED: curl is not installed, so its requests are not tested.')

interface Told {
  readonly status: number
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, compared by the test
  readonly body: any
}

/** As the register's documents write them: `POST /api/actions/…` and a JSON body. */
async function curl({ origin }: Served, line: string, body?: string): Promise<Told> {
  const [method = 'GET', path = ''] = line.split(' ')
  const data = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', body]
  const shown = ['-s', '-w', '\n%{http_code} %{content_type}', '-X', method, ...data, `${origin}${path}`]
  const { stdout } = await promisify(execFile)('curl', shown)
  const lines = stdout.trimEnd().split('\n')
  const [status = '', type = ''] = (lines.pop() ?? '').split(/ (.*)/)
  return { status: Number(status), type, body: JSON.parse(lines.join('\n')) }
}

async function deadMails(t: Served, count: number): Promise<number[]> {
  const payloads = Array.from({ length: count }, (_, i) => ({ to: `user-${i}@example.com` }))
  for (const { id } of await t.millrace.enqueueMany(email, payloads))
    await t.millrace.fail(id, { by: 'test', reason: 'No such mailbox', final: true })
  return (await t.millrace.deadLetters.list()).map(({ id }) => Number(id)).sort((a, b) => a - b)
}

test.runIf(hasCurl)('the five requests answer as they are documented, and refuse what is wrong', async () => {
  await using t = await served({ hasSampleData: false, hasWorker: false })
  const [first = 0, second = 0] = await deadMails(t, 2)
  const post = (name: string, body: object | string) =>
    curl(t, `POST /api/actions/${name}`, typeof body === 'string' ? body : JSON.stringify(body))

  const report = await post('create-jobs-metrics-report', '{\n  "from-hours-ago": 24,\n  "to-hours-ago": 0\n}')
  expect(report).toMatchObject({ status: 200, body: { 'current-stats': { pending: { count: 0 } } } })
  expect(Object.keys(report.body)).toEqual(
    expect.arrayContaining(['health', 'performance-metrics', 'hourly-throughput', 'generated-at']),
  )
  expect(await post('get-jobs-health-status', '{}')).toMatchObject({ status: 200, body: { 'dead-count': 2 } })

  const unacknowledged = async () =>
    (await curl(t, 'GET /api/actions/get-dead-letter-jobs?acknowledged=false')).body.map(({ id }: { id: string }) =>
      Number(id),
    )
  expect(await unacknowledged()).toEqual([second, first])

  const told = await post('acknowledge-dead-letter-jobs', { 'dead-letter-ids': [String(first), 999_999] })
  expect(told.body).toMatchObject([{ status: 'acknowledged' }, { status: 'not_found' }])
  expect(await unacknowledged()).toEqual([second])
  expect((await t.millrace.deadLetters.list({ status: 'pending' })).length).toBe(2)

  const again = () => post('reprocess-dead-letter-jobs', { 'dead-letter-ids': [second], 'max-attempts': 3 })
  const both = await Promise.all([again(), again()])
  expect(both.map(({ body }) => body[0].status).sort()).toEqual(['already_redriven', 'redriven'])
  expect(await t.sql(`select max_attempts as most from millrace.jobs where status = 'pending'`)).toEqual([{ most: 3 }])

  for (const [name, body] of [
    ['reprocess-dead-letter-jobs', { 'dead-letter-ids': ['abc'] }],
    ['reprocess-dead-letter-jobs', { 'dead-letter-ids': [first], 'max-attempts': 0 }],
    ['create-jobs-metrics-report', { 'from-hours-ago': 0, 'to-hours-ago': 1 }],
  ] as const)
    expect(await post(name, body), JSON.stringify(body)).toMatchObject({
      status: 400,
      type: expect.stringContaining('application/problem+json'),
    })
})
