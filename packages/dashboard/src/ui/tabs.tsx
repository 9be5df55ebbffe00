// Tabs whose choice is part of the URL are links; others are buttons.
import type { ReactNode } from 'react'
import { Link } from './link.tsx'
import { compactNumber } from './text/format.ts'

export interface Tab {
  readonly key: string
  readonly label: string
  readonly count?: number | null
  /** The count is bad news. */
  readonly isBad?: boolean
  /** Where it leads; without one `onChoose` is called. */
  readonly to?: string
}

export interface TabsProps {
  /** Read aloud: "Groups by state". */
  label: string
  tabs: readonly Tab[]
  chosen: string
  onChoose?: (key: string) => void
}

export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => {
        const current = tab.key === chosen ? ({ 'aria-current': 'true' } as const) : {}
        return tab.to === undefined ? (
          <button key={tab.key} type="button" className="tab" onClick={() => onChoose?.(tab.key)} {...current}>
            <TabLabel tab={tab} />
          </button>
        ) : (
          <Link key={tab.key} className="tab" to={tab.to} {...current}>
            <TabLabel tab={tab} />
          </Link>
        )
      })}
    </nav>
  )
}

const TabLabel = ({ tab }: { tab: Tab }): ReactNode => (
  <>
    {tab.label}
    {typeof tab.count === 'number' && (
      <span className={tab.isBad && tab.count > 0 ? 'count bad' : 'count'}>{compactNumber(tab.count)}</span>
    )}
  </>
)
