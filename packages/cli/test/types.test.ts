import { createMillrace, defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fixture, ran } from './support/program.ts'
import { setup } from './support/setup.ts'

const { default: workload } = await import(fixture('limited.js'))

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const otherLetter = defineJob({
  type: 'letter',
  queue: defineQueues({ mail: {} }).mail,
  payload: z.object({}),
  retry: { attempts: 2 },
})

const types = (args: string[], env: Record<string, string> = {}) => ran(['types', '--module', ...args], env)

test('types lists the job types of a workload without starting it', async () => {
  const { code, out, err } = await types([fixture('post.js')])
  expect(err).toBe('')
  expect(code).toBe(0)
  expect(out).toBe(
    [
      'TYPE    QUEUE  VERSION  ATTEMPTS  TIMEOUT     TENANT            DEDUPE  HANDLER',
      'letter  mail   2        3         30 s        optional          by key  yes',
      "audit   orgs   1        5         the lane's  required          no      none",
      "bill    orgs   1        5         the lane's  from the payload  no      none",
      '',
    ].join('\n'),
  )
})

test('--examples prints what fits with its warnings, and says what has none', async () => {
  const { code, out } = await types([fixture('post.js'), '--examples'], { GOOD: '1' })
  expect(code).toBe(0)
  expect(out).toMatch(
    /\nletter\n {2}1 {2}\{"to":"ann","token":"abc"\}\n {5}warning \(possible_secret\): token may be a secret/,
  )
  expect(out).toMatch(/\naudit: no examples\n/)
})

test('--examples ends with code 1 and a line for each that does not fit, and shows no secret', async () => {
  const { code, out, err } = await types([fixture('post.js'), '--examples'])
  expect(code).toBe(1)
  expect(err).toMatch(/^error: Example 2 of letter does not fit\. The payload of job "letter" is not valid: to: /m)
  expect(err).toMatch(/^error: Example 3 of letter does not fit\. The payload .* carries a secret at password/m)
  expect(out).toMatch(/ {2}1 {2}\{"to":"ann"\}\n {2}2 {2}does not fit/)
  expect(out + err).not.toContain('hunter2')
})

test('--json prints one document', async () => {
  const { code, out } = await types([fixture('post.js'), '--examples', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    workload: 'post',
    types: [
      {
        type: 'letter',
        queue: 'mail',
        version: 2,
        attempts: 3,
        timeoutMs: 30_000,
        tenant: 'optional',
        isDeduplicated: true,
        hasHandler: true,
        examples: [
          { payload: { to: 'ann' }, warnings: [] },
          { problem: expect.any(String) },
          { problem: expect.any(String) },
        ],
      },
      { type: 'audit', tenant: 'required', isDeduplicated: false, hasHandler: false, examples: [] },
      { type: 'bill', tenant: 'from the payload' },
    ],
  })
  expect(out).not.toContain('hunter2')
  expect(JSON.parse((await types([fixture('post.js'), '--json'])).out).types[0]).not.toHaveProperty('examples')
})

test('a module without a workload is refused with what was expected', async () => {
  expect(await types([fixture('no-workload.js')])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/no workload in it/),
  })
})

test('without a module it lists what workers have declared, and which of them differ', async () => {
  await using t = await setup({ jobs: workload.jobs, version: '1.4.2' })
  expect((await t.run('types')).out).toBe('No worker has declared a job type yet.\n')
  const worker = await t.millrace.work({ handlers: workload.handlers })
  const row = /^letter +mail +1 +5 +the lane's +optional +no +1$/m
  expect((await t.run('types')).out).toMatch(row)
  const other = createMillrace({ database: t.env.DATABASE_URL, jobs: [otherLetter], logger: silent })
  await other.work({ handlers: [implement(otherLetter, () => {})] })
  const { out } = await t.run('types')
  expect(out).toMatch(/^TYPE +QUEUE +VERSION +ATTEMPTS +TIMEOUT +TENANT +DEDUPE +WORKERS +DIFFER$/m)
  expect(out).toMatch(/^letter +mail +1 +2 +the lane's +optional +no +2 +1$/m)
  const shown = (await t.run('types', 'letter')).out
  expect(shown).toMatch(/^Attempts +2$/m)
  expect(shown).toMatch(
    new RegExp(`otherwise:\nHOST +PID +VERSION +WORKER\n.* ${process.pid} +1\\.4\\.2 +${worker.id}`),
  )
  const [fax] = JSON.parse((await t.run('types', '--json')).out)
  expect(fax).toMatchObject({ kind: 'type', name: 'fax', version: '1.4.2', workers: 1, document: { queue: 'fax' } })
  await other.close()
})

test('an unknown type gets a suggestion, and a path the hint that modules are named otherwise', async () => {
  await using t = await setup({ jobs: workload.jobs })
  await t.millrace.work({ handlers: workload.handlers })
  expect(await t.run('types', 'leter')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/Did you mean "letter"\?/),
  })
  expect(await t.run('types', fixture('post.js'))).toMatchObject({ code: 1, err: expect.stringMatching(/--module/) })
})

test('queues lists what workers declare, idle ones too, with owner and sla', async () => {
  const owner = { name: 'Post Room', channel: 'slack', address: '#post' }
  const { mail } = defineQueues({ mail: { title: 'Letters', sla: '30s', owner, use: 'what people wait for' } })
  const letter = defineJob({ type: 'letter', queue: mail, payload: z.object({}) })
  await using t = await setup({ jobs: [letter] })
  await t.millrace.work({ handlers: [implement(letter, () => {})] })
  expect((await t.run('queues')).out).toMatch(
    /^mail \(Letters\) +0 +0 +0 +0 +30 s +Post Room, #post +what people wait for$/m,
  )
  const [queue] = JSON.parse((await t.run('queues', '--json')).out)
  expect(queue).toMatchObject({ queue: 'mail', due: 0, declared: { workers: 1, document: { owner, slaMs: 30_000 } } })
})
