import type { Workload } from '@millrace/cli/workload'
import type { WorkflowDefinition } from 'millrace'
import { expect, test } from 'vitest'
import { fixture } from './support/program.ts'
import { setup as base } from './support/setup.ts'

const studio = ((await import(fixture('album.js'))) as { default: Workload }).default
const [album] = studio.workflows as [WorkflowDefinition]

async function setup() {
  const t = await base({ workflows: [album] })
  const { millrace } = t
  return {
    ...t,
    work: () => millrace.work({ handlers: studio.handlers }),
    /** Of seven photos the second cannot be framed, and the workflow is left as it is. */
    async failed(): Promise<string> {
      const { id } = await millrace.workflows.start(album, { count: 7 } as never, { createdBy: 'ann' })
      expect(await millrace.workflows.result(id)).toMatchObject({ status: 'failed' })
      return id
    },
  }
}

const module = ['--module', fixture('album.js')]

test('workflows lists and shows what there is, and what can be done about it', async () => {
  await using t = await setup()
  expect((await t.run('workflows')).out).toMatch(/^There is no workflow\. Declare one with defineWorkflow/)
  await t.work()
  const id = await t.failed()
  const { out: list } = await t.run('workflows', '--limit', '1', '--status', 'failed')
  expect(list).toMatch(/^ID +NAME +STATUS +STARTED +ENDED +WHY$/m)
  expect(list).toMatch(new RegExp(`^${id} +album +failed +.* step "frames" failed: unrecoverable: out of focus$`, 'm'))
  expect(list).toContain(`millrace workflows list --status failed --limit 1 --before ${id}`)
  expect((await t.run('workflows', '--status', 'rolled back')).out).toBe('No workflow is like that.\n')

  const { out } = await t.run('workflows', 'show', id)
  expect(out).toMatch(new RegExp(`^Workflow +${id}, album\nStatus +failed\n`))
  expect(out).toMatch(/^Started +\S+Z by ann$/m)
  expect(out).toMatch(/^STEP +AFTER +STATUS +JOBS +JOB IDS +REASON$/m)
  expect(out).toMatch(/^shoot +completed +1 of 1 done +\d+$/m)
  expect(out).toMatch(
    /^frames +shoot +failed +6 of 7 done, 1 failed +\d+ \d+ \d+ \d+ \d+ and 2 more +unrecoverable: out of/m,
  )
  expect(out).toMatch(/^bind +frames +cancelled$/m)
  expect(out).toMatch(
    new RegExp(`^Do what did .* millrace workflows resume ${id}, or undo .* millrace workflows roll-back ${id}$`, 'm'),
  )

  const details = JSON.parse((await t.run('workflows', 'show', id, '--json')).out)
  expect(details).toMatchObject({ id, steps: [{}, { jobs: 7, completed: 6, failed: 1 }, {}] })
  const [failedJob] = details.steps[1].jobIds
  const { out: job } = await t.run('job', failedJob)
  expect(job).toMatch(new RegExp(`^Workflow +${id}, album, step frames: millrace workflows show ${id}$`, 'm'))
  const letter = await t.millrace.deadLetters.ofJob(failedJob)
  expect((await t.run('dead', 'show', letter?.id ?? '')).out).toMatch(new RegExp(`^Workflow +${id}: `, 'm'))
})

test('workflows resume does anew what failed, with another payload, and the rest is left alone', async () => {
  await using t = await setup()
  await t.work()
  const id = await t.failed()
  const resumed = await t.run('workflows', 'resume', id, ...module, '--payload', 'frames={"1":{"file":"photo-1b"}}')
  expect(resumed).toMatchObject({ code: 0, out: `Workflow ${id} is running now: millrace workflows show ${id}\n` })
  expect(await t.millrace.workflows.result(id)).toMatchObject({ status: 'completed', results: { bind: 7 } })
  expect((await t.run('workflows', 'show', id)).out).toMatch(/^frames +shoot +completed +7 of 7 done/m)
  expect(await t.run('workflows', 'resume', id, ...module)).toMatchObject({
    code: 1,
    out: `Workflow ${id} is completed. There is nothing to resume.\n`,
  })
})

test('workflows roll-back undoes a failed one; cancel ends one that runs, and says who and why', async () => {
  await using t = await setup()
  const worker = await t.work()
  const id = await t.failed()
  const back = await t.run('workflows', 'roll-back', id, ...module, '--json')
  expect(JSON.parse(back.out)).toEqual([{ id, status: 'done', as: 'rolling back' }])
  expect(await t.millrace.workflows.result(id)).toMatchObject({ status: 'rolled back' })
  const { out } = await t.run('workflows', 'show', id)
  expect(out).toMatch(/^Status +rolled back, because a step failed$/m)
  expect(out).toMatch(/^frames +shoot +failed +6 of 7 done, 1 failed +done by \d+ \d+ \d+ \d+ \d+ and 1 more +\d+/m)
  expect(out).not.toContain('workflows resume')
  const [, , , undoJob] = (await t.millrace.workflows.get(id))?.steps[1]?.undoJobIds ?? []
  expect((await t.run('job', undoJob ?? '')).out).toMatch(/^Workflow +\d+, album, undoes step frames: /m)

  await worker.stop()
  const { id: waiting } = await t.millrace.workflows.start(album, { count: 1 } as never)
  const cancel = ['workflows', 'cancel', waiting, '99', ...module, '--by', 'rosa', '--reason', 'wrong film']
  const cancelled = await t.run(...cancel)
  expect(cancelled.code).toBe(1)
  expect(cancelled.out).toMatch(new RegExp(`^Workflow ${waiting} is \\w+ now: .*\nThere is no workflow 99\\. `))
  expect(await t.millrace.workflows.result(waiting)).toMatchObject({ status: 'cancelled', reason: 'wrong film' })
  expect((await t.run('workflows', 'show', waiting)).out).toMatch(/^Do what did not complete anew: /m)
})

const REFUSED = [
  [['show', '7'], /There is no workflow 7\. `millrace workflows` lists them/],
  [['show', 'album'], /"album" is not the id of a workflow: expected a number/],
  [['resume', '7'], /The steps of a workflow are checked against the workload, and none is known here\. Pass --module/],
  [['resume', '7', '--payload', 'frames'], /Expected the name of a step and its payload/],
  [['resume', '7', '--payload', 'frames={'], /What follows frames= is not JSON/],
  [['resume', '7', '--payload', 'a=1', '--payload', 'a=2'], /Step "a" has two payloads/],
  [['--status', 'gone'], /Allowed choices are running, stopping/],
  [['--before', 'yesterday'], /expected the id of a workflow/],
] as const

test('what cannot be done is refused, with what was expected', async () => {
  await using t = await setup()
  for (const [args, message] of REFUSED)
    expect(await t.run('workflows', ...args)).toMatchObject({ code: 1, err: expect.stringMatching(message) })
})

test('a workload that does not have the workflow is told so, and so is a payload for a step that is not done anew', async () => {
  await using t = await setup()
  await t.work()
  const id = await t.failed()
  expect(await t.run('workflows', 'resume', id, '--module', fixture('nap.js'))).toMatchObject({
    code: 1,
    err: expect.stringMatching(/The workload "naps" has no workflow "album"\. Name the module of the program/),
  })
  expect(await t.run('workflows', 'resume', id, ...module, '--payload', 'shoot={"count":1}')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/no step that begins anew: those are "frames", "bind"/),
  })
  expect(await t.millrace.workflows.get(id)).toMatchObject({ status: 'failed' })
})

test('workflows signal tells a workflow what it waits for, once', async () => {
  const office = ((await import(fixture('approval.js'))) as { default: Workload }).default
  const [approval] = office.workflows as [WorkflowDefinition]
  await using t = await base({ workflows: [approval] })
  const { millrace } = t
  const { id } = await millrace.workflows.start(approval)
  const signal = (...args: string[]) =>
    t.run('workflows', 'signal', id, ...args, '--module', fixture('approval.js'), '--by', 'ann')
  expect((await signal('approved', '{')).err).toContain('The payload is not JSON')
  expect((await signal('aproved')).err).toContain('approved')
  expect((await signal('approved', '{"by":7}')).err).toContain('by')
  expect(await signal('approved', '{"by":"ann"}', '--key', 'first')).toMatchObject({
    code: 0,
    out: `Workflow ${id} was told "approved": millrace workflows show ${id}\n`,
  })
  expect((await signal('approved', '{"by":"ann"}', '--key', 'first')).out).toContain('before: nothing was changed')
  expect(await signal('approved', '{"by":"bob"}')).toMatchObject({ code: 1 })
  await using _worker = await millrace.work({ handlers: office.handlers })
  expect(await millrace.workflows.result(id)).toMatchObject({ status: 'completed' })
})
