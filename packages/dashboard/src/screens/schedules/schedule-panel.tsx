// One schedule: what it does, when it fires next, what its last ticks did, and the changes to it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { ask, refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/card.tsx'
import { CommandLine, JsonBlock } from '../../ui/code-block.tsx'
import { JobId, TenantName, TypeName } from '../../ui/names.tsx'
import { ReasonDialog } from '../../ui/overlay/reason-dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState, Skeleton, sentenceOf } from '../../ui/states.tsx'
import { formatDuration } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { EditTiming } from './edit-timing.tsx'
import type { Schedule } from './schedule-state.ts'

const NEXT = 5
const LONGEST = { '1h': 'One hour', '8h': 'Eight hours', '24h': 'A day', '': 'Until somebody resumes it' }

export function SchedulePanel({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { name } = schedule
  return (
    <aside className="sched-panel" aria-label={`Schedule ${name}`}>
      <Card
        title={name}
        aside={
          <Button size="sm" variant="quiet" onClick={onClose}>
            Close
          </Button>
        }
        note={schedule.description}
      >
        <Actions schedule={schedule} />
        <Facts
          of={[
            ['Job type', <TypeName key="type" name={schedule.jobType} />],
            ['Declared by', schedule.declaredBy ?? (schedule.source === 'runtime' ? 'a call at run time' : 'nobody')],
            ['Missed ticks', { skip: 'are skipped', once: 'fire once', all: 'all fire' }[schedule.options.missed]],
            [
              'Overlap',
              { allow: 'is allowed', skip: 'skips the tick', queue: 'queues behind' }[schedule.options.overlap],
            ],
            ['Jitter', schedule.options.jitterMs > 0 ? `up to ${formatDuration(schedule.options.jitterMs)}` : null],
            [
              'Tenant',
              schedule.options.perTenant ? (
                'each active tenant'
              ) : schedule.options.tenant === null ? null : (
                <TenantName key="tenant" name={schedule.options.tenant} />
              ),
            ],
            [
              'Changed',
              <>
                {schedule.updatedBy}, <RelativeTime at={schedule.updatedAt} />
              </>,
            ],
          ]}
        />
        {schedule.payload !== undefined && schedule.payload !== null && (
          <JsonBlock value={schedule.payload} label="Payload of its jobs" />
        )}
      </Card>
      <NextFires schedule={schedule} />
      <LastTicks name={name} />
      <Card title="The same by command line">
        <CommandLine command={`millrace schedules preview ${name}`} />
      </Card>
    </aside>
  )
}

function Actions({ schedule }: { schedule: Schedule }) {
  const { name, status, pause, isEdited } = schedule
  const may = useMay()
  const [dialog, setDialog] = useState<'pause' | 'edit' | null>(null)
  const change = async (does: () => Promise<unknown>, says: string, onUndo?: () => Promise<unknown>) => {
    try {
      await does()
      toast({ says, tone: 'ok', ...(onUndo && { onUndo: () => onUndo().then(() => refresh('schedules')) }) })
    } catch (error) {
      toast({ says: sentenceOf(error), tone: 'fail' })
    }
    await refresh('schedules')
  }
  const isOver = status === 'orphaned' ? 'No living worker declares this schedule, so nobody can make its job.' : null
  const resume = () => api.schedules.resume({ name })
  const runNow = async () => {
    const { outcome, reason, jobId } = await api.schedules.run({ name })
    if (outcome !== 'enqueued') throw new Error(`It did not enqueue: ${reason ?? outcome.replaceAll('_', ' ')}.`)
    return jobId
  }
  return (
    <div className="acts sched-acts">
      {may('schedules.run') && (
        <Button
          variant="primary"
          disabledBecause={isOver}
          onClick={() => change(runNow, `${name} was ticked: its job is enqueued.`)}
        >
          Run now
        </Button>
      )}
      {may('schedules.pause') && pause === null && (
        <Button
          disabledBecause={status === 'finished' ? 'It will not fire again.' : isOver}
          onClick={() => setDialog('pause')}
        >
          Pause…
        </Button>
      )}
      {may('schedules.resume') && pause !== null && (
        <Button onClick={() => change(resume, `${name} fires again.`)}>Resume</Button>
      )}
      {may('schedules.edit') && (
        <Button disabledBecause={isOver} onClick={() => setDialog('edit')}>
          Edit timing…
        </Button>
      )}
      {may('schedules.edit') && isEdited && (
        <Button
          onClick={() => change(() => api.schedules.edit({ name, when: null }), `The timing of the code holds again.`)}
        >
          Back to the code's timing
        </Button>
      )}
      {may('schedules.remove') && status === 'orphaned' && (
        <Button variant="danger" onClick={() => change(() => api.schedules.remove({ name }), `${name} was removed.`)}>
          Remove
        </Button>
      )}
      <ReasonDialog
        isOpen={dialog === 'pause'}
        onClose={() => setDialog(null)}
        title={`Pause ${name}`}
        verb="Pause"
        durations={LONGEST}
        onRun={({ reason, for: length }) =>
          change(
            () => api.schedules.pause({ name, reason, ...(length && { for: length }) }),
            `${name} is paused.`,
            resume,
          )
        }
      >
        While it is paused it makes no jobs. What to do with the ticks of that time follows its rule for missed ticks.
      </ReasonDialog>
      <EditTiming schedule={schedule} isOpen={dialog === 'edit'} onClose={() => setDialog(null)} />
    </div>
  )
}

function NextFires({ schedule }: { schedule: Schedule }) {
  const { name, pause, nextAt } = schedule
  const { data, error } = useQuery({ ...ask('schedules', 'preview', { name, count: NEXT }), staleTime: 30_000 })
  return (
    <Card title="Next" note={pause !== null ? 'It is paused: these times pass without a job.' : undefined}>
      {error && <ErrorState what="The next times could not be worked out." error={error} />}
      {!data && !error && <Skeleton height={90} />}
      {data && (data.fires.length === 0 || nextAt === null) && <p className="dim">It will not fire again.</p>}
      <ol className="fires">
        {data?.fires.map((at) => (
          <li key={at}>
            <RelativeTime at={at} as="clock" />
            <span className="dim">
              <RelativeTime at={at} />
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function LastTicks({ name }: { name: string }) {
  const { data } = useLive(ask('schedules', 'get', { name }), { every: 5_000 })
  const ticks = data?.ticks ?? []
  return (
    <Card title="Last ticks">
      {data && ticks.length === 0 && <p className="dim">It has not ticked yet.</p>}
      {!data && <Skeleton height={120} />}
      <ol className="ticks">
        {ticks.slice(0, 20).map(({ id, fireAt, outcome, origin, reason, jobId, jobs, latenessMs, missed, by }) => (
          <li key={id}>
            <RelativeTime at={fireAt} as="clock" />
            <span>
              {jobId !== null ? <JobId id={jobId} /> : jobs > 1 ? `${jobs} jobs` : outcome.replaceAll('_', ' ')}
              {reason && <span className="dim"> {reason}</span>}
              {missed > 0 && <span className="t-late"> {missed} missed before it</span>}
            </span>
            <span className="dim">
              {origin === 'due'
                ? latenessMs > 1_000
                  ? `${formatDuration(latenessMs)} late`
                  : 'on time'
                : (by ?? origin)}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )
}
