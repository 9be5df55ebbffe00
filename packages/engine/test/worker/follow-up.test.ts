// What follows from the end of a workflow's job is told and woken exactly if it was written with that end.
import { defineWorkflow } from 'millrace'
import { expect, test } from 'vitest'
import { Millrace } from '#src/millrace'
import { settle } from '#src/store/settlements'
import { CommitUnknown } from '#src/store/transaction'
import { InlineClaims } from '#src/testing/inline-claims'
import { Acker, type AckerServices } from '#src/worker/acker'
import { setup } from '../support/setup.ts'
import { named, work } from '../workflow/running.ts'

const flow = defineWorkflow('flow').step('only', work, named('only'))

/** Ends the job of a workflow by an acker whose first attempt gets no answer. Returns what was told, in order. */
async function told(isWritten: boolean): Promise<string[]> {
  await using t = await setup()
  const millrace = t.client([work], { workflows: [flow] })
  const { db, clock, ...services } = Millrace.servicesOf(millrace)
  await millrace.workflows.start(flow)
  const claims = new InlineClaims({ ...services, db, clock }, [work])
  await claims.begin()
  const said: string[] = []
  const settleStep: AckerServices['settleStep'] = async (settlement, onAdvanced) => {
    onAdvanced(() => said.push('followed'))
    if (isWritten) await db.atOnce((tx) => settle(tx, null, [settlement]))
    throw new CommitUnknown(new Error('cut'))
  }
  const acker = new Acker({
    db,
    clock,
    isTrusted: () => true,
    ensurePartitions: async () => {},
    settleStep,
    onSettled: (_, result) => said.push(result),
    onDue: () => said.push('due'),
    onStepsEnded: () => said.push('ended'),
    onFlushed: () => {},
    onError: () => said.push('no answer'),
  })
  for (const run of await claims.next('steps')) {
    const { workflowId } = run.job
    const outcome = { status: 'completed', result: null, reason: null, retention: 'standard' } as const
    acker.add(run, { kind: 'finish', ...run.fence, ...outcome, workflowId })
  }
  await acker.drain()
  await claims.end()
  return said
}

test('an end that was written without an answer is followed when that is found out', async () => {
  expect(await told(true)).toEqual(['no answer', 'won', 'followed', 'ended'])
})

test('an end that was not written is written alone, and somebody is to see to what follows', async () => {
  expect(await told(false)).toEqual(['no answer', 'due', 'won'])
})
