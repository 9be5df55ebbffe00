// What can be done with one job. An action that would change nothing stays visible and says why; one that the caller may not
// do is not there.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { type Answer, queryClient, refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { useKeys } from '../../ui/keys.ts'
import { useGo } from '../../ui/link.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { sentenceOf } from '../../ui/states.tsx'
import { CancelDialog } from './cancel-dialog.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { PriorityDialog } from './priority-dialog.tsx'

export type JobDetails = Answer<'jobs', 'get'>

type Open = 'edit' | 'cancel' | 'priority' | null

export interface JobActionsProps {
  job: JobDetails
  /** The keys r, e, p and c act on it. */
  hasKeys?: boolean
}

export function JobActions({ job, hasKeys = false }: JobActionsProps) {
  const may = useMay()
  const { go } = useGo()
  const [open, setOpen] = useState<Open>(null)
  const why = reasonsAgainst(job)
  const retry = () => retryJob(job, go)
  const keyed = (name: string, run: () => unknown) => (may(name) ? run : () => {})
  useKeys(
    {
      r: keyed('jobs.retry', () => why.retry === null && retry()),
      e: keyed('jobs.retry', () => why.edit === null && setOpen('edit')),
      p: keyed('jobs.prioritise', () => why.prioritise === null && setOpen('priority')),
      c: keyed('jobs.cancel', () => why.cancel === null && setOpen('cancel')),
    },
    hasKeys && may('jobs.retry'),
  )
  if (!may('jobs.retry')) return null
  const key = (name: string) => hasKeys && <kbd>{name}</kbd>
  return (
    <>
      <div className="acts" role="group" aria-label="Actions on this job">
        <Button disabledBecause={why.retry} onClick={retry}>
          {job.status === 'dead' ? 'Try again' : 'Try now'} {key('r')}
        </Button>
        <Button disabledBecause={why.edit} onClick={() => setOpen('edit')}>
          Edit and retry… {key('e')}
        </Button>
        <Button disabledBecause={why.prioritise} onClick={() => setOpen('priority')}>
          Prioritise… {key('p')}
        </Button>
        <Button variant="danger" disabledBecause={why.cancel} onClick={() => setOpen('cancel')}>
          Cancel… {key('c')}
        </Button>
      </div>
      <EditDialog job={job} isOpen={open === 'edit'} onClose={() => setOpen(null)} />
      <PriorityDialog job={job} isOpen={open === 'priority'} onClose={() => setOpen(null)} />
      <CancelDialog job={job} isOpen={open === 'cancel'} onClose={() => setOpen(null)} />
    </>
  )
}

/** Why an action would change nothing; null: it would. */
export function reasonsAgainst({ status, runAt, deadLetter }: JobDetails) {
  const ended = status === 'completed' || status === 'cancelled' ? `The job is ${status}: enqueue a new one.` : null
  const dead = status === 'dead' ? 'The job is dead: it waits for nothing.' : null
  const decided =
    deadLetter !== null && deadLetter.status !== 'pending' ? `Its dead letter was ${deadLetter.status} already.` : null
  const isDue = status === 'pending' && Date.parse(runAt) <= Date.now()
  const running = status === 'processing' ? 'It runs at this moment.' : null
  return {
    retry: ended ?? running ?? decided ?? (isDue ? 'To try it now would change nothing: it is due already.' : null),
    edit:
      status === 'dead'
        ? decided
        : (ended ?? 'Only a dead job gets another payload. Cancel this one and enqueue a new one.'),
    prioritise: ended ?? running ?? dead,
    cancel: ended ?? dead,
  }
}

/** Shows at once what is to be expected, and takes it back if the server refuses. */
async function retryJob(job: JobDetails, go: (to: string) => void): Promise<void> {
  const key = ['jobs', 'get', { id: job.id }]
  const before = queryClient.getQueryData<JobDetails>(key)
  if (job.status !== 'dead' && before !== undefined)
    queryClient.setQueryData(key, { ...before, status: 'pending', runAt: new Date().toISOString() })
  try {
    const answer = await api.jobs.retry({ id: job.id })
    if (answer.status === 'redriven') {
      toast({ says: `Job ${job.id} is tried again as job ${answer.jobId}.` })
      go(`/jobs/${answer.jobId}`)
    } else toast({ says: `Job ${job.id} is due now.` })
  } catch (error) {
    queryClient.setQueryData(key, before)
    toast({ says: sentenceOf(error), tone: 'fail' })
  }
  await refresh('jobs', 'deadLetters', 'queues')
}
