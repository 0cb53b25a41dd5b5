// Applies the chosen theme before the first render; by default the system decides.
try {
  const chosen = localStorage.getItem('belfry-theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // Without local storage the system decides.
}
