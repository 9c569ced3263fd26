// Light, dark, or as the system has it; remembered in this browser.

const CHOICES = ["auto", "light", "dark"];
const system = matchMedia("(prefers-color-scheme: dark)");
const button = document.getElementById("theme");
let choice = localStorage.getItem("limbeck-theme") ?? "auto";

function apply() {
  const isDark = choice === "dark" || (choice === "auto" && system.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  button.textContent = `Theme: ${choice}`;
}

button.addEventListener("click", () => {
  choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
  localStorage.setItem("limbeck-theme", choice);
  apply();
});
system.addEventListener("change", apply);
apply();
