// Puts the theme that was chosen on the page before it is drawn; nothing chosen leaves it to the system.
try {
  const chosen = localStorage.getItem('belfry-theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // A browser that keeps nothing for us follows the system.
}
