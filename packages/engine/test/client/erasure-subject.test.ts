// Erasing what jobs of one person carried, whatever their types.
import { defineJob, defineQueues, defineWorkflow, type EraseProgress, every } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { graveyard } from '../support/dead-letters.ts'
import { everyText } from '../support/every-text.ts'
import { ringOf } from '../support/keys.ts'

const { default: queue } = defineQueues({ default: {} })
const mail = defineJob({ type: 'mail', queue, payload: z.object({ email: z.string() }) })
const report = defineJob({
  type: 'report',
  queue,
  payload: z.object({ rows: z.array(z.object({ email: z.string() })) }),
})
const secret = defineJob({ type: 'secret', queue, payload: z.object({ email: z.string() }), sensitive: ['email'] })
// Without a job: only its input tells whose it is.
const approval = defineWorkflow('approval', { input: z.object({ email: z.string() }) }).signal('answer')
const canary = 'canary@example.com'
const by = { by: 'desk', reason: 'request 77' } as const

/** A waiting job, a dead one and a workflow of ann's; one of each of bob's. */
async function office() {
  const t = await graveyard()
  const millrace = t.client([mail, report, secret], { workflows: [approval], encryption: ringOf('a') })
  for (const [createdBy, email] of [
    ['ann', canary],
    ['bob', 'bob@example.com'],
  ] as const) {
    await millrace.enqueue(mail, { email }, { createdBy, delay: '1h' })
    const { id } = await millrace.enqueue(mail, { email }, { createdBy })
    await t.kill([id], { error: new Error(`no box ${email}`) })
    await millrace.workflows.start(approval, { email }, { createdBy })
  }
  return { ...t, millrace }
}

test('by creator erases jobs, dead letters and workflows of all types, and leaves those of others', async () => {
  await using t = await office()
  const { id } = await t.millrace.enqueue(report, { rows: [{ email: canary }] }, { createdBy: 'ann', delay: '1h' })
  const before = await everyText(t)
  const dry = await t.millrace.erase({ createdBy: 'ann', ...by, dryRun: true })
  expect(dry).toMatchObject({ cancelled: 2, jobs: 1, deadLetters: 1 })
  expect(await everyText(t)).toBe(before)
  expect(await t.millrace.erase({ createdBy: 'ann', ...by })).toMatchObject({ cancelled: 2, jobs: 3, deadLetters: 1 })
  const after = await everyText(t)
  expect(after).not.toContain('canary')
  expect(after.match(/bob@example\.com/g)).toHaveLength(before.match(/bob@example\.com/g)?.length ?? 0)
  expect(await t.millrace.job(id)).toMatchObject({ status: 'cancelled', payload: { erased: true } })
  const audit = await t.sql(`select actor, details from millrace.audit_log where action = 'job.erase'`)
  expect(audit[0]).toMatchObject({ actor: 'desk', details: { reason: 'request 77' } })
  expect(JSON.stringify(audit)).not.toContain('ann')
})

test('by a path of the payload erases jobs, dead letters, workflows and schedules of all types', async () => {
  await using t = await office()
  const { schedules } = t.millrace
  for (const [name, email] of [
    ['hers', canary],
    ['his', 'bob@example.com'],
  ] as const)
    await schedules.create({ name, type: 'mail', when: every('1h'), payload: { email }, by: 'ann' })
  const rows = [{ email: 'bob@example.com' }, { email: canary }]
  await t.millrace.enqueue(report, { rows }, { delay: '1h' })
  await t.millrace.enqueue(report, { rows: rows.slice(0, 1) }, { delay: '1h' })
  expect(await t.millrace.erase({ path: 'email', equals: canary, ...by })).toMatchObject({
    ...{ cancelled: 1, jobs: 2, deadLetters: 1, schedules: 1 },
    encryptedTypes: ['secret'],
  })
  expect((await schedules.list()).map(({ name }) => name)).toEqual(['his'])
  expect(await everyText(t)).toContain('canary')
  expect(await t.millrace.erase({ path: 'rows.*.email', equals: canary, ...by })).toMatchObject({
    ...{ cancelled: 1, jobs: 1, deadLetters: 0 },
    encryptedTypes: [],
  })
  expect(await everyText(t)).not.toContain('canary')
  expect(await t.sql(`select count(*)::int from millrace.job where type = 'report'`)).toEqual([{ count: 1 }])
})

test('goes on from a cursor, within a table and behind it', async () => {
  await using t = await office()
  const emails = Array.from({ length: 1_200 }, () => ({ email: canary }))
  await t.millrace.enqueueMany(mail, emails, { createdBy: 'ann', delay: '1h' })
  const cutOffAt = async (place: EraseProgress['place'], dryRun: boolean): Promise<string> => {
    let cursor: string | null = null
    const onProgress = (progress: EraseProgress) => {
      cursor = progress.cursor
      if (progress.place === place) throw new Error('cut off')
    }
    await expect(t.millrace.erase({ createdBy: 'ann', ...by, dryRun, onProgress })).rejects.toThrow('cut off')
    return cursor ?? ''
  }
  const within = await cutOffAt('live', true)
  expect(within).toMatch(/^live:\d+$/)
  expect(await t.millrace.erase({ createdBy: 'ann', ...by, dryRun: true, cursor: within })).toMatchObject({
    // 1,202 jobs wait, and the first thousand were looked at.
    ...{ cancelled: 202, jobs: 1, deadLetters: 1 },
  })
  const behind = await cutOffAt('archive', true)
  expect(behind).toBe('deadLetters:0')
  const seen: string[] = []
  const onProgress = ({ place, cursor }: EraseProgress) => seen.push(`${place} ${cursor}`)
  expect(await t.millrace.erase({ createdBy: 'ann', ...by, cursor: behind, onProgress })).toMatchObject({
    ...{ cancelled: 0, jobs: 1, deadLetters: 1 },
  })
  expect(seen).toEqual(['deadLetters workflows:0', 'workflows null'])
})
