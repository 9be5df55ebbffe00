// Circuit breakers: which services may not be called now, since when, and what to do about it.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import type { Answer } from '../../data/queries.ts'
import { refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { Link } from '../../ui/link.tsx'
import { JobId, TypeName } from '../../ui/names.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { EmptyState, ErrorState, sentenceOf } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { counted, formatDuration } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'

export type Breaker = Answer<'breakers', 'list'>['breakers'][number]

const RANK = { open: 0, half_open: 1, closed: 2 }

export function BreakersCard({ breakers, chosen }: { breakers: readonly Breaker[]; chosen: string | undefined }) {
  const may = useMay()
  const columns = may('breakers.reset') ? [...COLUMNS, ACTIONS] : COLUMNS
  const rows = [...breakers].sort(
    (a, b) =>
      Number(b.service === chosen) - Number(a.service === chosen) ||
      RANK[a.state] - RANK[b.state] ||
      a.service.localeCompare(b.service),
  )
  return (
    <Card
      title="Breakers"
      flush
      note={breakers.length > 0 ? 'One for each outside service that jobs name.' : undefined}
    >
      <DataTable
        label="Circuit breakers"
        rows={rows}
        columns={columns}
        keyOf={(row) => row.service}
        isPage={false}
        none={
          <EmptyState title="There are no breakers.">
            <p>
              A job type that names a service, <code>services: [defineService('smtp')]</code>, waits while that service
              fails instead of failing with it.
            </p>
          </EmptyState>
        }
      />
    </Card>
  )
}

const COLUMNS: readonly Column<Breaker>[] = [
  {
    key: 'service',
    title: 'service',
    isHead: true,
    sort: (row) => row.service,
    cell: (row) => (
      <span className="two">
        <b>{row.service}</b>
        <span className="dim">
          opens after {counted(row.settings.failures, 'failure')}, for {formatDuration(row.settings.openForMs)}
          {Object.keys(row.overrides).length > 0 && ' · set by an operator'}
        </span>
      </span>
    ),
  },
  {
    key: 'state',
    title: 'state',
    sort: (row) => RANK[row.state],
    narrow: 'full',
    cell: (row) => (
      <span className="two">
        <StatusBadge status={row.state} />
        <span className="dim">
          {row.state === 'open' && row.nextProbeAt && (
            <>
              next probe <RelativeTime at={row.nextProbeAt} />
            </>
          )}
          {row.state === 'open' && row.nextProbeAt === null && 'until somebody resets it'}
          {row.state === 'half_open' &&
            (row.probe?.jobId ? (
              <>
                job <JobId id={row.probe.jobId} /> probes it
              </>
            ) : (
              'the next job probes it'
            ))}
          {row.state === 'closed' && row.failureCount > 0 && `${counted(row.failureCount, 'failure')} in a row`}
        </span>
      </span>
    ),
  },
  {
    key: 'since',
    title: 'since',
    align: 'right',
    sort: (row) => row.openedAt,
    cell: (row) => <RelativeTime at={row.state === 'closed' ? null : row.openedAt} />,
  },
  {
    key: 'failed',
    title: 'last failure',
    align: 'right',
    sort: (row) => row.lastFailureAt,
    cell: (row) => <RelativeTime at={row.lastFailureAt} none="none" />,
  },
  {
    key: 'types',
    title: 'holds jobs of',
    narrow: 'full',
    cell: (row) =>
      row.types.map((type) => (
        <span key={type} className="held-type">
          <Link to={`/jobs?q=${encodeURIComponent(`type:${type} status:pending`)}`}>
            <TypeName name={type} />
          </Link>
        </span>
      )),
  },
]

const ACTIONS: Column<Breaker> = { key: 'do', title: '', cell: (row) => <Actions breaker={row} /> }

function Actions({ breaker: { service, state, settings } }: { breaker: Breaker }) {
  const [isSetting, setSetting] = useState(false)
  const change = async (does: () => Promise<unknown>, says: string) => {
    try {
      await does()
      toast({ says, tone: 'ok' })
    } catch (error) {
      toast({ says: sentenceOf(error), tone: 'fail' })
    }
    await refresh('breakers', 'health')
  }
  return (
    <span className="acts">
      {state === 'closed' ? (
        <Button
          size="sm"
          onClick={() =>
            change(() => api.breakers.open({ service }), `${service} may not be called until somebody resets it.`)
          }
        >
          Open it
        </Button>
      ) : (
        <Button
          size="sm"
          variant="primary"
          onClick={() => change(() => api.breakers.reset({ service }), `${service} may be called again.`)}
        >
          Reset
        </Button>
      )}
      <Button size="sm" onClick={() => setSetting(true)}>
        Settings…
      </Button>
      {isSetting && <Settings service={service} settings={settings} onClose={() => setSetting(false)} />}
    </span>
  )
}

interface SettingsProps {
  service: string
  settings: Breaker['settings']
  onClose: () => void
}

function Settings({ service, settings, onClose }: SettingsProps) {
  const [failures, setFailures] = useState(String(settings.failures))
  const [seconds, setSeconds] = useState(String(settings.openForMs / 1_000))
  const [failure, setFailure] = useState<unknown>(null)
  const isWrong = !/^[1-9]\d*$/.test(failures) || !(Number(seconds) > 0)
  const save = async (next: { failures: number | null; openFor: string | null }) => {
    try {
      await api.breakers.configure({ service, ...next })
    } catch (error) {
      return setFailure(error)
    }
    await refresh('breakers')
    onClose()
  }
  return (
    <Dialog
      isOpen
      title={`Settings of the breaker ${service}`}
      onClose={onClose}
      end={
        <>
          <Button onClick={() => save({ failures: null, openFor: null })}>As the code says</Button>
          <Button
            variant="primary"
            disabledBecause={isWrong ? 'Expected whole failures and seconds above 0.' : null}
            onClick={() => save({ failures: Number(failures), openFor: `${Number(seconds)}s` })}
          >
            Save
          </Button>
        </>
      }
    >
      <Field label="Opens after so many failures in a row">
        <input inputMode="numeric" value={failures} onChange={(event) => setFailures(event.target.value)} />
      </Field>
      <Field label="Seconds until the next probe">
        <input inputMode="decimal" value={seconds} onChange={(event) => setSeconds(event.target.value)} />
      </Field>
      {failure !== null && <ErrorState what="The settings were not changed." error={failure} />}
    </Dialog>
  )
}
