// Who is hit, what was noted, and the same from a terminal.
import { Fragment } from 'react'
import { Card } from '../../ui/card.tsx'
import { Meter } from '../../ui/chart/meter.tsx'
import { CommandLine } from '../../ui/code-block.tsx'
import { Link } from '../../ui/link.tsx'
import { TenantName, TypeName } from '../../ui/names.tsx'
import { formatNumber } from '../../ui/text/format.ts'
import { pathOf } from './group-table.tsx'
import { type Facts, type Group, queryOf } from './groups.ts'
import { commandOf, USUAL_RATE } from './redrive-dialog.tsx'

export function TenantsHit({ group, facts, others }: { group: Group; facts: Facts; others: readonly Facts[] }) {
  const { byTenant, tenants, lastNotes } = facts
  const named = byTenant.reduce((sum, { letters }) => sum + letters, 0)
  const rest = Math.max(0, group.pending - named)
  return (
    <div>
      <Card title={`Tenants hit, ${formatNumber(tenants)} in all`}>
        {byTenant.length === 0 && <p className="note">No letter waits.</p>}
        <div className="hit">
          {byTenant.map(({ tenant, letters }) => (
            <Fragment key={tenant}>
              <TenantName name={tenant} />
              <Meter
                share={letters / Math.max(1, group.pending)}
                label={`Share of the letters of ${tenant ?? 'no tenant'}`}
              />
              <span className="r">{formatNumber(letters)}</span>
            </Fragment>
          ))}
          {rest > 0 && tenants > byTenant.length && (
            <>
              <span className="dim">{formatNumber(tenants - byTenant.length)} others</span>
              <Meter share={rest / group.pending} label="Share of the letters of the others" />
              <span className="r">{formatNumber(rest)}</span>
            </>
          )}
        </div>
      </Card>
      <Card title="Notes">
        {lastNotes ? (
          <p className="notes">{lastNotes}</p>
        ) : (
          <p className="note">Nobody has noted anything about this kind of failure.</p>
        )}
      </Card>
      {others.length > 0 && (
        <Card title="Other types that fail alike">
          <ul>
            {others.map((other) => (
              <li key={other.type}>
                <Link to={pathOf(other)}>
                  <TypeName name={other.type} />
                </Link>{' '}
                <span className="dim">{formatNumber(other.letters)}</span>
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Card title="The same from a terminal">
        <CommandLine command={commandOf(group, true, USUAL_RATE)} />
        <p className="note gap">
          All of them as jobs: <Link to={`/jobs?q=${encodeURIComponent(queryOf(group))}`}>{queryOf(group)}</Link>
        </p>
      </Card>
    </div>
  )
}
