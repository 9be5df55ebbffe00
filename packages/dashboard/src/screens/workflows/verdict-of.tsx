// How a workflow stands, in a sentence.
import type { ReactNode } from 'react'
import { Em } from '../../ui/verdict.tsx'
import { rollbackOf } from './rollback.ts'
import type { Step, WorkflowDetails } from './workflow-data.ts'

export function sentenceOf(workflow: WorkflowDetails): ReactNode {
  const { status, stopping, steps } = workflow
  const head = `Workflow ${workflow.id} `
  const failed = steps.find((step) => step.status === 'failed')
  const why = stopping === 'cancelled' ? 'it was cancelled' : failed ? <>step {bad(failed)} failed</> : 'a step failed'
  switch (status) {
    case 'running':
      return (
        <>
          {head}is <Em tone="ok">running</Em>
          {workflow.held === null ? doing(steps) : ', and is held: it could not be carried on.'}
        </>
      )
    case 'stopping':
      return (
        <>
          {head}is <Em tone="late">stopping</Em>: {why}, and what still runs is awaited.
        </>
      )
    case 'rolling back':
      return rollingBack(workflow, head, why)
    case 'completed':
      return (
        <>
          {head}has <Em tone="ok">completed</Em>.
        </>
      )
    case 'failed':
      return (
        <>
          {head}has <Em tone="fail">failed</Em>: {why}. What it did stays as it is until somebody resumes it or rolls it
          back.
        </>
      )
    case 'cancelled':
      return (
        <>
          {head}was <Em tone="late">cancelled</Em>. Nothing of it had to be undone.
        </>
      )
    case 'rolled back':
      return (
        <>
          {head}was <Em tone="late">rolled back</Em>: {why}, and what it had done is undone.
        </>
      )
    case 'rollback failed':
      return (
        <>
          {head}
          <Em tone="fail">could not be rolled back</Em>: the undo of{' '}
          {names(steps.filter(({ undo }) => undo === 'failed'))} failed.
        </>
      )
  }
}

function rollingBack({ resumes, steps }: WorkflowDetails, head: string, why: ReactNode): ReactNode {
  const { now } = rollbackOf(steps)
  if (resumes)
    return (
      <>
        {head}
        <Em tone="ok">goes on</Em> as soon as the undo of {now ? bad(now) : 'a step'} has ended.
      </>
    )
  return (
    <>
      {head}is <Em tone="late">rolling back</Em>: {why}, and the steps before it are being undone.
    </>
  )
}

function doing(steps: readonly Step[]): ReactNode {
  const running = steps.filter(({ status }) => status === 'running')
  if (running.length === 0) return '.'
  if (running.every(({ kind }) => kind === 'signal')) return <>, and waits for {names(running)}.</>
  return (
    <>
      : {running.length === 1 ? 'step' : 'steps'} {names(running)}.
    </>
  )
}

const MOST = 3

function names(steps: readonly Step[]): string {
  const shown = steps.slice(0, MOST).map(({ name }) => name)
  const more = steps.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

const bad = ({ name }: Step) => <Em tone="fail">{name}</Em>
