export function OverviewScreen() {
  return <h1 className="verdict">Overview</h1>
}
