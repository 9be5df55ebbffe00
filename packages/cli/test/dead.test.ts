import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fixture } from './support/program.ts'
import { setup as base } from './support/setup.ts'

// The contract of fixtures/nap.js; here its handler always fails.
const queues = defineQueues({ beds: { concurrency: 3 } })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })

/** A database with dead letters, one per tenant. */
async function setup(...tenants: string[]) {
  const t = await base({ jobs: [nap] })
  const { millrace } = t
  const jobs: string[] = []
  const worker = await millrace.work({
    handlers: [
      implement(nap, (_, ctx) => {
        ctx.log.warn({ hour: 3 }, 'still awake')
        throw new Unrecoverable(`insomnia of ${ctx.tenant}`)
      }),
    ],
  })
  for (const tenant of tenants) {
    const died = millrace.events.next('job_died')
    jobs.push((await millrace.enqueue(nap, {}, { tenant })).id)
    await died
  }
  await worker.stop()
  const letters = (await millrace.deadLetters.list()).reverse()
  return {
    ...t,
    jobs,
    letters: letters.map(({ id }) => id),
    fingerprint: letters[0]?.fingerprint ?? '',
  }
}

const module = ['--module', fixture('nap.js')]

test('dead lists, groups and shows letters, and says when there is none', async () => {
  await using empty = await setup()
  expect((await empty.run('dead')).out).toBe('No dead letter is pending.\n')
  expect((await empty.run('dead', 'groups')).out).toBe('No dead letter is pending.\n')

  await using t = await setup('ann', 'bob')
  const { out } = await t.run('dead')
  expect(out).toMatch(/^ID +JOB +DIED +TYPE +TENANT +REASON +ATTEMPTS +STATUS +FINGERPRINT +ERROR\n/)
  expect(out).toMatch(/nap +ann +unrecoverable +1 +pending +\w+ +insomnia of ann$/m)
  expect(JSON.parse((await t.run('dead', '--json', '--tenant', 'bob')).out)).toMatchObject([{ tenant: 'bob' }])
  expect((await t.run('dead', 'groups')).out).toMatch(/^1 +nap +\w+ .*insomnia of/m)
  const shown = await t.run('dead', 'show', t.letters[0] ?? '')
  expect(shown.out).toMatch(/^Error +Unrecoverable: insomnia of ann$/m)
  expect(shown.out).toMatch(/^Attempts\n {2}1 {2}.* Unrecoverable: insomnia of ann$/m)
  expect((await t.run('job', t.jobs[0] ?? '')).out).toMatch(/^Letter +\d+, pending: millrace dead show \d+$/m)
  expect(shown.out).toMatch(/^Log\n {2}\+\d+ ms {2}warn {2}still awake {2}\{"hour":3\}$/m)
  expect(shown.out).toMatch(/^Stack\n {2}Unrecoverable: insomnia of ann\n {2}at /m)
  expect(await t.run('dead', 'show', '999')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/no dead letter 999/),
  })
})

test('letters are decided one by one or many at once, and it is written down who did', async () => {
  await using t = await setup('ann', 'bob', 'cleo')
  const [ann = '', bob = '', cleo = ''] = t.letters
  expect((await t.run('dead', 'acknowledge', ann, '--by', 'ada')).out).toBe(`Dead letter ${ann}: acknowledged.\n`)
  expect((await t.run('dead', 'note', ann, 'ask her', '--by', 'ada')).out).toBe(`Dead letter ${ann}: noted.\n`)
  expect(await t.run('dead', 'resolve', bob, '999', '--note', 'tea')).toMatchObject({ code: 1 })
  expect((await t.run('dead', 'ignore', cleo)).code).toBe(0)
  expect(await t.millrace.deadLetters.get(ann)).toMatchObject({ status: 'pending', acknowledgedBy: 'ada' })
  expect((await t.millrace.deadLetters.get(ann))?.notes).toMatch(/ada.*ask her/)
  expect(await t.millrace.deadLetters.get(bob)).toMatchObject({ status: 'resolved' })
  expect(await t.millrace.deadLetters.get(cleo)).toMatchObject({ status: 'ignored' })
  expect((await t.run('dead')).out).toMatch(/ acknowledged +/)
})

test('letters are redriven by id, with another payload, or all of a kind', async () => {
  await using t = await setup('ann', 'bob', 'cleo')
  const [ann = ''] = t.letters
  const one = await t.run('dead', 'redrive', ann, ...module, '--by', 'ada', '--max-attempts', '2', '--json')
  const [{ jobId }] = JSON.parse(one.out)
  expect(await t.millrace.job(jobId)).toMatchObject({ tenant: 'ann', createdBy: 'ada', maxAttempts: 2 })
  const again = await t.run('dead', 'redrive', ann, ...module)
  expect(again).toMatchObject({ code: 1, out: expect.stringMatching(new RegExp(`already_redriven +${jobId}`)) })
  const rest = await t.run('dead', 'redrive', '--type', 'nap', ...module)
  expect(rest).toMatchObject({ code: 0 })
  expect(rest.out.match(/redriven/g)).toHaveLength(2)
  expect((await t.run('dead', 'redrive', '--type', 'nap', ...module)).out).toBe(
    'No pending dead letter is like that.\n',
  )
})

test.each([
  [['dead', 'redrive'], /Say which letters/],
  [['dead', 'redrive', '1', '--type', 'nap'], /either ids or a filter/],
  [['dead', 'redrive', '1', '--payload', '{'], /--payload.*The payload is not JSON/],
  [['dead', '--status', 'gone'], /Allowed choices are pending/],
  [['dead', 'redirve', '1'], /unknown command|too many arguments/],
])('%j is refused', async (args, message) => {
  await using t = await setup()
  expect(await t.run(...args)).toMatchObject({ code: 1, err: expect.stringMatching(message) })
})

test('retry makes a waiting job due and gives a dead one a successor', async () => {
  await using t = await setup('ann')
  const [dead = ''] = t.jobs
  const { id: waiting } = await t.millrace.enqueue(nap, {}, { delay: '1h' })
  const { code, out } = await t.run('retry', waiting, dead, ...module)
  expect(out).toMatch(
    new RegExp(`^Job ${waiting} is due now\\.\nJob ${dead} is dead\\. Job \\d+ takes its place\\.\n$`),
  )
  expect(code).toBe(0)
  const without = await t.run('retry', dead, '999')
  expect(without.code).toBe(1)
  expect(without.out).toMatch(/has taken its place before\.\nJob 999 does not exist\./)
})

test('counts are by queue and tenant, groups within one, and prune forgets what was decided about', async () => {
  await using t = await setup('acme', 'acme', 'bolt')
  const [first] = t.letters as [string]
  await t.run('dead', 'resolve', first)
  const { out } = await t.run('dead', 'counts')
  expect(out).toMatch(/^QUEUE +TENANT +PENDING +RETRIED +RESOLVED +IGNORED +OLDEST PENDING\n/)
  expect(out).toMatch(/^beds +acme +1 +0 +1 +0 /m)
  expect(JSON.parse((await t.run('dead', 'groups', '--tenant', 'bolt', '--json')).out)).toMatchObject([{ pending: 1 }])
  expect(await t.run('dead', 'prune', '--older-than', '1d')).toMatchObject({ out: 'Forgot 0 dead letters.\n' })
  expect(await t.run('dead', 'prune', '--older-than', '0s')).toMatchObject({ out: 'Forgot 1 dead letter.\n' })
  expect(await t.run('prune', '--older-than', '0s', '--status', 'completed')).toMatchObject({ out: 'Forgot 0 jobs.\n' })
  expect(await t.run('prune', '--older-than', '0s', '--type', 'nap')).toMatchObject({ out: 'Forgot 3 jobs.\n' })
  expect(await t.run('prune')).toMatchObject({ code: 1, err: expect.stringMatching(/--older-than/) })
})
