// One worker: its lanes, what it runs now, its permits, and the requests to it.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/card.tsx'
import { Slots } from '../../ui/chart/meter.tsx'
import { JobId, QueueName, TypeName } from '../../ui/names.tsx'
import { ReasonDialog } from '../../ui/overlay/reason-dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Duration } from '../../ui/text/figures.tsx'
import { listed } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import type { Worker } from './worker-state.ts'

export function WorkerPanel({ worker, onClose }: { worker: Worker; onClose: () => void }) {
  const { id, host, pid, types, request, report } = worker
  return (
    <aside aria-label={`Worker ${host} ${pid}`}>
      <Card
        title={`${host}, process ${pid}`}
        aside={
          <Button size="sm" variant="quiet" onClick={onClose}>
            Close
          </Button>
        }
      >
        <Requests worker={worker} />
        <Facts
          of={[
            [
              'Id',
              <span key="id" className="mono">
                {id}
              </span>,
            ],
            ['Started', <RelativeTime key="started" at={worker.startedAt} />],
            ['Lease ends', <RelativeTime key="lease" at={worker.expiresAt} />],
            ['Hears NOTIFY', report ? (report.isListening ? 'yes' : 'no: it polls') : null],
            [
              'Asked to',
              request &&
                `${request.kind === 'quiet' ? 'take no more jobs' : 'stop'} by ${request.by}: ${request.reason}`,
            ],
            ['Knows', `${types.length} job types: ${listed(types.slice(0, 8))}${types.length > 8 ? ' …' : ''}`],
          ]}
        />
      </Card>
      {report && (
        <Card title="Lanes">
          <ul className="lanes">
            {report.lanes.map((lane) => (
              <li key={lane.name}>
                <b>{lane.name}</b>
                <Slots
                  used={lane.running}
                  of={lane.slots}
                  label={`${lane.running} of ${lane.slots} slots of ${lane.name}`}
                />
                <span className="dim nw">
                  {lane.running} / {lane.slots}
                  {lane.buffered > 0 && `, ${lane.buffered} fetched`}
                </span>
                <span className="of">
                  {lane.queues.map((queue) => (
                    <QueueName key={queue} name={queue} />
                  ))}
                </span>
              </li>
            ))}
            {report.permits.map(({ limit, free, most }) => (
              <li key={limit}>
                <b>{limit}</b>
                <Slots used={most - free} of={most} label={`${most - free} of ${most} permits of ${limit}`} />
                <span className="dim nw">{free} permits free</span>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {report && (
        <Card title="Runs now" aside={<span className="dim">{report.running}</span>}>
          {report.runs.length === 0 && <p className="dim">Nothing: it waits for jobs.</p>}
          <ul className="runs">
            {report.runs.map(({ jobId, type, since }) => (
              <li key={jobId}>
                <JobId id={jobId} />
                <TypeName name={type} />
                <span className="dim">
                  <Duration since={since} />
                </span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </aside>
  )
}

function Requests({ worker }: { worker: Worker }) {
  const { id, host, pid, request, report } = worker
  const may = useMay()
  const [dialog, setDialog] = useState<'quiet' | 'stop' | null>(null)
  const isStopping = request?.kind === 'stop' || report?.state === 'stopping'
  const resume = async () => {
    await api.workers.resume({ id })
    await refresh('workers')
  }
  if (!may('workers.quiet')) return null
  return (
    <div className="acts worker-acts">
      {request?.kind === 'quiet' ? (
        <Button variant="primary" onClick={resume}>
          Take jobs again
        </Button>
      ) : (
        <Button disabledBecause={isStopping ? 'It is stopping already.' : null} onClick={() => setDialog('quiet')}>
          Quiet…
        </Button>
      )}
      <Button
        variant="danger"
        disabledBecause={isStopping ? 'It is stopping already.' : null}
        onClick={() => setDialog('stop')}
      >
        Stop…
      </Button>
      <ReasonDialog
        isOpen={dialog !== null}
        onClose={() => setDialog(null)}
        title={dialog === 'stop' ? `Stop the worker ${host} (${pid})` : `Let ${host} (${pid}) take no more jobs`}
        verb={dialog === 'stop' ? 'Stop it' : 'Quiet it'}
        isDangerous={dialog === 'stop'}
        onRun={async ({ reason }) => {
          await (dialog === 'stop' ? api.workers.stop({ id, reason }) : api.workers.quiet({ id, reason }))
          await refresh('workers')
          toast({
            says: dialog === 'stop' ? `${host} (${pid}) stops.` : `${host} (${pid}) takes no more jobs.`,
            ...(dialog === 'quiet' && { onUndo: resume }),
          })
        }}
      >
        {dialog === 'stop'
          ? 'It finishes what it runs, gives back what it has fetched, and ends. That cannot be taken back; its supervisor may start another one.'
          : 'It finishes what it runs and takes nothing new, until somebody lets it go on.'}
      </ReasonDialog>
    </div>
  )
}
