# shellcheck shell=bash
# Sourced by the other scripts: what an example is called elsewhere, and where its judge is.

# family NAME: the environment family of an example.
family() {
    case $1 in
        terminal | gui | swe | toolcall) echo "$1" ;;
        personal) echo chat ;;
        *)
            echo "no example '$1'; there are: terminal, gui, swe, toolcall, personal" >&2
            return 2
            ;;
    esac
}

# judge_model NAME: the model that judges an example, nothing where none does.
judge_model() {
    case $1 in
        gui) echo Qwen/Qwen3-VL-8B-Thinking ;;
        toolcall) echo Qwen/Qwen3-4B ;;
        personal) echo Qwen/Qwen3-4B-Thinking-2507 ;;
    esac
}

# judge_settings NAME URL: settings that point an example to its judge at URL, one word a line.
judge_settings() {
    [ -n "$(judge_model "$1")" ] || return 0
    printf '%s\n' --set "judge.base_url=$2/v1"
}
